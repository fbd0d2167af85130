"""Mends what small models get wrong about a home: the kinds and places of a call (`intent_calls.py`), then its names.

The other half of the room, without Home Assistant, is `agent/repair`.
"""
