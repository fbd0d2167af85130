"""Reads calls and reasoning that small models write as text, and mends what they get wrong there.

One order for every message: markers are found while the text arrives
(`text_markup.py`), calls are parsed whatever their format (`written_calls.py`),
those that only quote the conversation stay text
(`quoted_calls.py`), and the rest are events like any other (`text_calls.py`). A call
then goes on to `agent/loop/calls.py`: the name of the tool, the types and shapes that
its schema wants, the order of `tools/repair/intent_calls.py`, and names in
`tools/repair/short_names.py`. Decision 61.
"""
