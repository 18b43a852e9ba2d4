"""What is a component source (``.ssc``) in Python?"""
