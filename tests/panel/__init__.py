"""Tests of the page's commands, through Home Assistant's WebSocket."""
