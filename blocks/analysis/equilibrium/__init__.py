"""Where does a model rest, or move as is wished, and what does everything bear there?"""
