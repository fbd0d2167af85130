"""Conversations that outgrow what a model can read."""
