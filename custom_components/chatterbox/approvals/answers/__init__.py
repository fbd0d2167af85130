"""Understands spoken yes and no in every language, without a model.

Ten languages have files (`languages/<language>/answers.toml`), the others share
`other_languages.toml` and `cldr.toml`. `tests/fixtures/confirmation/README.md` shows how well each of
them works.
"""
