"""The promises of every provider, tested over every wire format that there is.

`dialect.py` says what a format has to bring along, `dialects.py` lists the formats,
`test_*.py` is the contract. A new format is one more file here, and one more line in
`dialects.py`.
"""
