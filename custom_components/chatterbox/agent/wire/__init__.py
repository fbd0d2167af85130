"""Wire formats: bytes and JSON on one side, transcript and events on the other.

Pure: no module here opens a connection, reads a clock or knows a provider.
"""
