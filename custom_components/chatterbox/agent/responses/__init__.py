"""The OpenAI-Responses-compatible surface, without HTTP and without Home Assistant.

Requests come in as JSON, events and resources go out as JSON; who takes the turns is known by its seam, `house.py`.
"""
