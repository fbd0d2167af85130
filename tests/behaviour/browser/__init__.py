"""What a person sees and does: a real browser on the real frontend of a real Home Assistant."""
