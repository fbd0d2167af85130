"""Converts answers to text for speech, and recognizes questions at their end."""

from .speech_filter import SpeechFilter, asks_back, speakable, speakable_in_pieces

__all__ = ["SpeechFilter", "asks_back", "speakable", "speakable_in_pieces"]
