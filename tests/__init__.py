"""The tests: `agent/` mirrors the agent package and needs no Home Assistant; the rest has one file per module."""
