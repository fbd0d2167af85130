"""Tests of the reading of what a person said."""
