"""Understands spoken yes and no in every language, without a model.

Ten languages have files (`languages/<language>/answers.toml`), the others share
`other_languages.toml` and `cldr.toml`. `docs/confirmations.md` shows how well each of
them works.
"""
