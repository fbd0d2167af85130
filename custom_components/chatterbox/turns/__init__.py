"""One turn of an agent, end to end: read the input, prepare, run the loop, record."""
