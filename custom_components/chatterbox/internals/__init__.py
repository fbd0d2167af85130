"""The names inside Home Assistant that Chatterbox relies on, one module per component.

Home Assistant documents none of them, so a release may move one. Then one ability is
off, and everything else works.
"""
