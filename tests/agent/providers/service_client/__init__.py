"""Requests to one service."""
