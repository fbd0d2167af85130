"""Ways to reach a model, one module per wire protocol.

Everything that opens a connection stands here; the formats stand in `wire/`.
"""
