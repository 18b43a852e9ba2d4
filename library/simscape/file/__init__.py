"""What stands in a model file, and what stands elsewhere that it uses?"""
