"""Home Assistant is killed in the middle of turns, again and again; what people were told is kept.

`python -m tests.behaviour.durability --kills 100` does it a hundred times and prints
what was found.
"""
