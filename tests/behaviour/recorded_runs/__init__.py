"""Replays recorded runs of models through the conversation entity, in the homes that they were recorded in."""
