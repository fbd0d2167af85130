"""What Assist has offered, kept for the turns in which it would say the same again.

Knows what its answer is made of, and when that has changed (`home/changes.py`). Must not know how it is asked. Only
the answer of Home Assistant's own Assist is kept, and only while Home Assistant and we alone have a say in it: of
anybody else's code nobody can tell when it would answer otherwise. It is kept for each one who asks, so that nothing
need be known of whom it makes a difference to.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from homeassistant.components.llm import DATA_PLATFORMS, AssistAPI
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..const import INTEGRATION
from ..data import singleton
from ..home.changes import async_house_state
from ..settings.agent import HomeTelling
from .api_offer import ApiOffer
from .merged_api import MergedApi, merge_apis

MAX_OFFERS: Final = 32
"""Answers that are kept; the one that was not needed for longest goes first. Each takes as much as a prompt."""

_OWN: Final = ("homeassistant.components.", f"{INTEGRATION}.")
"""How the modules begin of which it is known what their answers are made of: Home Assistant's own, and ours."""


class Asker(NamedTuple):
    """Who asks, and what for: all that Assist is told, but for the one occasion."""

    home: HomeTelling
    platform: str
    assistant: str
    language: str | None
    device_id: str | None
    user_id: str | None

    @classmethod
    def of(cls, llm_context: llm.LLMContext, home: HomeTelling) -> Self:
        """Return who asks in a context."""
        user_id = llm_context.context.user_id if llm_context.context else None
        return cls(
            home, llm_context.platform, llm_context.assistant, llm_context.language, llm_context.device_id, user_id
        )


@dataclass(slots=True)
class _Kept:
    """An answer, and the house that it was given for."""

    api: llm.API
    state: int
    """See `house_changes.async_house_state`."""
    offer: ApiOffer
    merged: MergedApi | None = None
    """The answer as one API, once it was made."""


@dataclass(slots=True)
class KeptOffers:
    """The answers of one running Home Assistant."""

    _kept: OrderedDict[Asker, _Kept] = field(default_factory=OrderedDict)

    @callback
    def async_find(self, api: llm.API, asker: Asker) -> ApiOffer | None:
        """Return what `api` would answer now, or None when it has to be asked."""
        kept = self._find(api, asker)
        return None if kept is None else kept.offer

    @callback
    def async_find_merged(self, api: llm.API, asker: Asker) -> MergedApi | None:
        """Return the same as an API of ours; None when it was not made yet."""
        kept = self._find(api, asker)
        return None if kept is None else kept.merged

    def _find(self, api: llm.API, asker: Asker) -> _Kept | None:
        kept = self._kept.get(asker)
        if kept is None or kept.api is not api:
            return None
        if kept.state != async_house_state(api.hass, asker.assistant):
            del self._kept[asker]
            return None
        self._kept.move_to_end(asker)
        return kept

    async def async_keep(self, asker: Asker, state: int, offer: ApiOffer) -> None:
        """Keep an answer to a question that was asked when the house was in `state`, if it may be kept at all."""
        if not offer.is_settled or not await _async_is_all_own(offer.api):
            return
        self._kept[asker] = _Kept(offer.api, state, offer)
        if len(self._kept) > MAX_OFFERS:
            self._kept.popitem(last=False)

    @callback
    def async_merge(self, hass: HomeAssistant, asker: Asker, offers: Sequence[ApiOffer]) -> MergedApi:
        """Make one API of several; what was made of a kept answer alone is kept with it."""
        kept = self._kept.get(asker)
        if kept is None or len(offers) != 1 or offers[0] is not kept.offer:
            return merge_apis(hass, offers)
        if kept.merged is None:
            kept.merged = merge_apis(hass, offers)
        return kept.merged


@callback
@singleton
def async_get_kept_offers(_hass: HomeAssistant) -> KeptOffers:
    """Return the answers that are kept."""
    return KeptOffers()


async def _async_is_all_own(api: llm.API) -> bool:
    """Tell whether an API is Assist, and nobody else has a say in it."""
    if type(api) is not AssistAPI:
        return False
    platforms: dict[str, object] = {**await api.hass.data[DATA_PLATFORMS].async_get_platforms()}
    return all(getattr(platform, "__name__", "").startswith(_OWN) for platform in platforms.values())
