"""The Responses surface as its users meet it: real clients, a real Home Assistant, and a model that does as it is told.

`python -m tests.behaviour.clients.house FOLDER` starts the house alone and prints where it is.
"""
