"""Spoken confirmations: understands yes, no and a spoken PIN in ten languages, without a model.

Each language is a file in `languages/`. `docs/confirmations.md` shows how well each of them works.
"""
