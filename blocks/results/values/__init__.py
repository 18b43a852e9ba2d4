"""What are the values of a run: at its samples, between them, over its time, made of others?"""
