"""Requests, answers and PINs as speech recognition wrote them, and what comes of them: `script/heard` counts."""
