"""Converts answers to text for speech, and recognizes questions, reports and announcements in them."""

from .speech_filter import SpeechFilter, asks_back, speakable, speakable_in_pieces
from .spoken_text import names_in_other_words
from .statements import REPORTS, AnswerContent, Statement, answer_content

__all__ = [
    "REPORTS",
    "AnswerContent",
    "SpeechFilter",
    "Statement",
    "answer_content",
    "asks_back",
    "names_in_other_words",
    "speakable",
    "speakable_in_pieces",
]
