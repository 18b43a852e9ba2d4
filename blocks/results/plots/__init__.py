"""How are curves over time, and motions, drawn by matplotlib?"""
