"""The Responses surface as its users meet it: real clients, a real Home Assistant, and a model that does as it is told.

`python -m tests.behaviour.clients.home FOLDER` starts the home alone and prints where
it is.
"""
