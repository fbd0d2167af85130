"""The tokens that a real llama.cpp server reads before the first word of an answer: `python -m bench.first_word`."""
