"""Text that a model repeats."""
