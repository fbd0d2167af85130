"""Tells whether a call after content from outside the home may be a wish of the person, and who else may want it."""

from dataclasses import dataclass
from typing import Final

from homeassistant.core import HomeAssistant

from ..agent.text import fold, heard_words, words_alike
from ..const import DOMAIN
from ..effects.effect import Effects, kind_of
from ..home.entities import telling_words
from ..home.entity_matches import area_name, entity_name, is_named_in
from .action_summary import repeatable_action
from .answers.language import action_words, is_about_all, language_code
from .answers.yes_or_no import Meaning, understand_answer
from .policy import lets_in

_SHORTEST_WORD: Final = 3
"""Letters of a word that can be about a device."""
_SOURCES: Final = {
    "calendar": ("calendar", "event"),
    "message": (
        "mail",
        "message",
        "inbox",
        "chat",
        "sms",
        "notification",
    ),
    "web": (
        "web",
        "page",
        "fetch",
        "url",
        "browse",
        "search",
    ),
}
"""Parts of names of tools by the kind of their content."""


def kind_of_source(tool: str) -> str:
    """Return the kind of content that a tool brings from outside the home, as a part of a translation key."""
    name = tool.casefold().removeprefix(f"{DOMAIN}__")
    return next(
        (
            kind
            for kind, parts in _SOURCES.items()
            if any(part in name for part in parts)
        ),
        "outside",
    )


@dataclass(frozen=True, slots=True)
class Wish:
    """The words of the person in a turn that has content from outside."""

    hass: HomeAssistant
    request: str
    language: str

    def names(self, effects: Effects) -> bool:
        """Return whether the words name every entity of a call, and what is done."""
        words = heard_words(self.request)
        actions = effects.actions
        return bool(actions) and all(
            is_named_in(self.hass, one.entity_id, words)
            and not self._words_of(one.action).isdisjoint(words)
            for one in actions
        )

    def says(self, text: str) -> bool:
        """Return whether the words hold all telling words of a text."""
        telling = frozenset(map(fold, telling_words(text)))
        return (
            bool(telling) and words_alike(telling, heard_words(self.request)) == telling
        )

    def may_mean(self, effects: Effects) -> bool:
        """Return whether the words can mean a call: a word of what is done, or of the device or its area.

        Only what lets somebody in is compared, where the words for it are known; a yes
        may answer the model.
        """
        actions = effects.actions
        if not (
            lets_in(self.hass, effects)
            or any(one.action == "alarm_control_panel.alarm_disarm" for one in actions)
        ):
            return True
        words = heard_words(self.request)
        if not words or understand_answer(self.request, self.language) is Meaning.YES:
            return True
        known = [self._words_of(one.action) for one in actions]
        if not all(known) or is_about_all(self.request, self.language):
            return True
        return any(not one.isdisjoint(words) for one in known) or any(
            self._is_about(one.entity_id) for one in actions
        )

    def _is_about(self, entity_id: str) -> bool:
        """Return whether the words hold a word of the name of an entity, an alias or its area, or a part of one."""
        words = heard_words(self.request)
        names = heard_words(
            f"{entity_name(self.hass, entity_id)} {area_name(self.hass, entity_id)}"
        )
        long = [
            word for word in names if len(word) > _SHORTEST_WORD or not word.isascii()
        ]
        spoken = [
            word for word in words if len(word) > _SHORTEST_WORD or not word.isascii()
        ]
        return is_named_in(self.hass, entity_id, words) or any(
            one in other or other in one for one in long for other in spoken
        )

    def _words_of(self, action: str) -> frozenset[str]:
        kind = repeatable_action(kind_of(action))
        if kind:
            words = action_words(language_code(self.language), kind)
        else:
            words = frozenset[str]()
        return frozenset(
            fold(word)
            for word in words
            if len(word) >= _SHORTEST_WORD or not word.isascii()
        )
