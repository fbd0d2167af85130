"""How much of what people said in the recorded runs needs no model, and how an agent without one does."""
