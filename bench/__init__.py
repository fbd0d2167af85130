"""Measurements of what people wait for; each module runs by itself."""
