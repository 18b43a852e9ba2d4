"""What do physical blocks, their units and converters become?"""
