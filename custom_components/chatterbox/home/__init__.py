"""The exposed home: floors, areas, entities, their names, and search among them."""
