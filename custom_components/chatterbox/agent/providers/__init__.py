"""Access to models, one module per wire protocol.

All connections are opened here; the formats are in `wire/`.
"""
