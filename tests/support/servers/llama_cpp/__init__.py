"""A real llama.cpp server as a process of its own, over a model that is written for it: noise, or given texts."""
