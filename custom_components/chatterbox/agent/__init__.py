"""Chatterbox without Home Assistant: the agentic loop, its seams and its providers.

Everything below this package can be imported, tested and used on its own. It must
never import `homeassistant`, `voluptuous` or `probatio`.
"""
