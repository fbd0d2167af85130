"""Converts answers to text for speech, and recognizes questions at their end."""

from .speech_filter import SpeechFilter, asks_back, speakable

__all__ = ["SpeechFilter", "asks_back", "speakable"]
