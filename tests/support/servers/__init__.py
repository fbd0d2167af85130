"""Servers that tests talk to: real HTTP on the loopback address, each can run as a process of its own."""
