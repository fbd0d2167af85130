"""The sentences of the UI, from the translation file that it uses, so that tests need not repeat the wording.

Knows the file's layout; must not know when something is said.
"""

from functools import cache
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

import custom_components

_FOLDER = Path(custom_components.__file__).parent / "chatterbox" / "translations"


def sentence(key: str, /, language: str = "en", **placeholders: str) -> str:
    """Return the sentence at a dotted key such as `config.error.provider_busy`, with its placeholders filled in."""
    return template(key, language).format(**placeholders)


@cache
def _sentences(language: str) -> dict[str, JsonValue]:
    return TypeAdapter(dict[str, JsonValue]).validate_json(
        (_FOLDER / f"{language}.json").read_bytes()
    )


def template(key: str, language: str = "en") -> str:
    """Return the text at a dotted key, its placeholders as they are written."""
    found: JsonValue = _sentences(language)
    for part in key.split("."):
        found = found[part] if isinstance(found, dict) else None
    if not isinstance(found, str):
        raise KeyError(key)
    return found
