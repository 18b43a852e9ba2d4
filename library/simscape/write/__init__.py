"""What is the text of a converted model, and what became of every block?"""
