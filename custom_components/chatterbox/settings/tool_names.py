"""Offered names of tools: whether two of them may belong to one tool, and whether one does what an intent does.

A tool keeps its own name where possible. Otherwise `tools/llm_apis.py` ends its name in
a short hash of its origin, and begins it with `_` in front of a digit.
"""

import re
from typing import Final

import slugify as unicode_slug

from ..agent.text import read_data_file

SENTENCE_TOOL: Final = "conversation__process_sentence"
"""The tool by which Home Assistant understands a sentence; see `offline/provider.py`."""
LATER_TOOL: Final = "chatterbox__later"
"""The tool that plans what happens later; see `later/tool.py`."""
BROADCAST_TOOL: Final = "assist_satellite__HassBroadcast"
"""The tool that speaks a message, and replaces Home Assistant's own of this name; see `later/broadcast.py`."""
GUEST_MODE_TOOL: Final = "chatterbox__guest_mode"
"""The tool that switches guest mode on; see `tools/own/guest_mode.py`."""
_LISTED: Final = read_data_file(__file__, dict[str, dict[str, frozenset[str]]])
TOOLS_FOR_GUESTS: Final = _LISTED["groups"]["for_guests"]
"""The tools and intents that guests may use although they act on no entity; of `later`, some of its kinds."""
MAX_NAME_LENGTH: Final = 64
"""The longest name that every provider accepts."""
HASH_LENGTH: Final = 6
"""Of the shortest hash at the end of a name."""

_HASH: Final = re.compile(rf"_[0-9a-f]{{{HASH_LENGTH},}}$")
_LEGIBLE_LENGTH: Final = MAX_NAME_LENGTH - HASH_LENGTH - 1


def have_same_origin(
    name: str,
    other: str,
) -> bool:
    """Return whether two offered names may belong to one tool, with and without a hash, or to tools with one name."""
    first, second = (
        _legible(one).lstrip("_")[: _LEGIBLE_LENGTH - 1] for one in (name, other)
    )
    return first == second


def is_tool_of_intent(
    tool: str,
    intent_type: str,
) -> bool:
    """Return whether a tool of this name does what an intent does, whatever API or integration its name begins with."""
    name = _legible(tool)
    tail = name.partition("__")[2] or name
    is_cut = len(name) == _LEGIBLE_LENGTH
    slug = unicode_slug.slugify(
        intent_type,
        separator="_",
        lowercase=False,
    )
    for own in {intent_type, slug, *_LISTED["same_as"].get(intent_type, ())} - {""}:
        wanted = _HASH.sub("", own)
        if wanted in (name, tail) or (is_cut and wanted.startswith(tail)):
            return True
        if own.startswith("Hass") and name.endswith(f"_{wanted}"):
            return True
    return False


def _legible(name: str) -> str:
    """Return an offered name without its hash, as far as it is never truncated."""
    return _HASH.sub("", name)[:_LEGIBLE_LENGTH]
