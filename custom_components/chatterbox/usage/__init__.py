"""Tokens, prices, costs and budgets of agents."""
