"""What a voice should say of an answer, and whether the answer asks something back."""

from .asking_back import asks_back
from .speech_filter import SpeechFilter, speakable

__all__ = ["SpeechFilter", "asks_back", "speakable"]
