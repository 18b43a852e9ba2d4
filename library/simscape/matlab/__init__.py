"""What do texts in MATLAB's language say, and how are they written in Python?"""
