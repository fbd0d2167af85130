"""The stored history of conversations: stores per database, recording and retention."""
