"""Rules of the home."""
