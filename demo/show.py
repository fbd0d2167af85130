"""The show of the demo: an agent with a scripted model, a PIN for the front door and prices, and scenes to watch."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from demo.conversation import TurnReport
from demo.scripted_model import FIRST_SERVICE, MODEL, PRICES, SECOND_SERVICE, SENTENCES

PIN = "2580"
ENTRY_ID = "01K0DEMO0SHOW0CHATTERBOX00"
_SECOND_ID = "01K0DEMO0SHOW0SECOND000000"
_BUTLER_ID = "01K0DEMO0SHOW0BUTLER000000"
_READER_ID = "01K0DEMO0SHOW0READER000000"
_SPARE_ID = "01K0DEMO0SHOW0SPARE0000000"
_SINCE = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Scene:
    """Sentences that belong together, and what is to be seen."""

    title: str
    sentences: tuple[str, ...]


(
    _MOVIE,
    _COSY,
    _BRIGHTER,
    _OPEN,
    _RAIN,
    _JAZZ,
    _UNLOCK,
    _BLIND,
    _BEDROOM,
    _PANCAKES,
    *_,
    _GARDEN,
    _BAKERY,
) = SENTENCES

SCENES = (
    Scene("Several things in one sentence, done at the same time", (_MOVIE,)),
    Scene("What was said before counts", (_COSY, _BRIGHTER)),
    Scene("The agent looks before it answers", (_OPEN, _RAIN)),
    Scene(
        "It looks through the camera in the garden, and searches the web",
        (_GARDEN, _BAKERY),
    ),
    Scene(
        "A door is unlocked after a question, and only with the PIN",
        (_UNLOCK, "yes", "2 5 8 0"),
    ),
    Scene(
        "The model dies amid its answer: what was done is told, nothing is done twice",
        (_BLIND,),
    ),
    Scene("The model is down: the next one answers", (_BEDROOM,)),
    Scene(
        "A web page tells the model to open the garage: the agent refuses, and tells you",
        (_PANCAKES,),
    ),
)


def show_rules() -> dict[str, JsonValue]:
    """Return the rules of the home. Takes some seconds."""
    from custom_components.chatterbox.settings.pin_hash import PinHash  # noqa: PLC0415  # loads the integration

    return {
        "rules": [
            {
                "verdict": "pin",
                "domains": ["lock"],
                "actions": ["lock.unlock", "lock.open"],
            }
        ],
        "pin": PinHash.of(PIN).as_json(),
    }


def show_entries(address: str) -> tuple[dict[str, JsonValue], ...]:
    """Return an entry with the agent of the show and one with the agent that takes over; `address` has both servers."""
    butler: dict[str, JsonValue] = {
        "llm_hass_api": ["assist"],
        "fallbacks": [_SPARE_ID],
        "look_task": "ai_task.picture_reader",
        "web_search": "searxng",
        "web_search_address": address,
    }
    return (
        _entry(
            ENTRY_ID,
            "Scripted model",
            f"{address}{FIRST_SERVICE}/v1",
            _subentry(_BUTLER_ID, "conversation", "Butler", butler),
            _subentry(_READER_ID, "ai_task_data", "Picture reader", {}),
        ),
        _entry(
            _SECOND_ID,
            "Another model",
            f"{address}{SECOND_SERVICE}/v1",
            _subentry(_SPARE_ID, "conversation", "Spare", {}),
        ),
    )


def _subentry(
    subentry_id: str, kind: str, title: str, options: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    return {
        "data": {"model": MODEL, **PRICES, **options},
        "subentry_id": subentry_id,
        "subentry_type": kind,
        "title": title,
        "unique_id": None,
    }


def _entry(
    entry_id: str, title: str, base_url: str, *subentries: JsonValue
) -> dict[str, JsonValue]:
    return {
        "created_at": _SINCE,
        "data": {"kind": "openai_chat", "server": "other", "base_url": base_url},
        "discovery_keys": {},
        "disabled_by": None,
        "domain": "chatterbox",
        "entry_id": entry_id,
        "minor_version": 1,
        "modified_at": _SINCE,
        "options": {},
        "pref_disable_new_entities": False,
        "pref_disable_polling": False,
        "source": "user",
        "subentries": [*subentries],
        "title": title,
        "unique_id": None,
        "version": 1,
    }


def price_of(turn: TurnReport) -> float:
    """Return the US dollars of a turn, as the agent's sensor counts them."""
    cached = turn.usage.get("cached_tokens", 0)
    fresh = turn.usage.get("input_tokens", 0) - cached
    written = turn.usage.get("output_tokens", 0)
    tokens = (
        (fresh, PRICES["price_input"]),
        (cached, PRICES["price_cached"]),
        (written, PRICES["price_output"]),
    )
    return sum(count * price for count, price in tokens) / 1_000_000
