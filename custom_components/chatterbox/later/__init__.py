"""Plans of people for later, and their times."""
