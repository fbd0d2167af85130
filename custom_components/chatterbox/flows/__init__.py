"""Dialogs: the forms of services, agents, models for tasks and rules, and how they are stored."""
