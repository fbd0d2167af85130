"""What the UI says, from the translation file that it is read from, so that tests need not repeat the wording.

Knows the file's layout; must not know when something is said.
"""

import json
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

import custom_components

_FILE = Path(custom_components.__file__).parent / "chatterbox" / "translations" / "en.json"
_SENTENCES = TypeAdapter(dict[str, JsonValue]).validate_python(json.loads(_FILE.read_bytes()))


def sentence(key: str, **placeholders: str) -> str:
    """Return the sentence at a dotted key such as `config.error.provider_busy`, with its placeholders filled in."""
    return template(key).format(**placeholders)


def template(key: str) -> str:
    """Return the text at a dotted key, its placeholders as they are written."""
    found: JsonValue = _SENTENCES
    for part in key.split("."):
        found = found[part] if isinstance(found, dict) else None
    if not isinstance(found, str):
        raise KeyError(key)
    return found
