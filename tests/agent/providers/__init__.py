"""Tests of the providers, against real servers on the loopback address."""
