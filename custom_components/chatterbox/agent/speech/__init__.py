"""Converts answers to text for speech, and recognizes questions at their end."""

from .asking_back import asks_back
from .speech_filter import SpeechFilter, speakable

__all__ = ["SpeechFilter", "asks_back", "speakable"]
