"""The tools that are our own, one a module. `registry.py` lists them."""
