"""Compares a call with the words of the person: it does not do the opposite, nor act on what only a model chose.

A call that does the opposite goes back to the model once, and the person is asked if the model insists. A name that a
model chose counts if the words lead to it: they name it, its room or its alias better than the others of its kind, or
it is the only one of these in the room of the person. Otherwise the person is asked which one. Decision 51.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.todo.const import DOMAIN as TODO
from homeassistant.const import ATTR_DEVICE_CLASS, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject, ToolCall, ToolDefinition, canonical_json
from ..agent.protocols import Ask, Deny
from ..agent.text import contains_phrase, fold, heard_words, read_data_file, words_alike
from ..effects.effect import EntityAction, Touches, actions_of
from ..home.description import listed, quoted
from ..home.entities import ExposedEntity, Home, async_get_home, telling_words
from ..home.entity_matches import has_name_in, is_named_in
from ..home.request import QUESTION_ENDS, Request
from ..home.search import async_kind_names
from .answers.language import is_about_all, may_except
from .review import CallOption, CallReview

type _ReviewOf = Callable[[JsonObject], Awaitable[CallReview]]
"""Reviews a call of the same tool with other arguments."""

_TABLES: Final = read_data_file(Path(__file__).with_suffix(".toml"), dict[str, dict[str, list[str]]])
_TOLD: Final = read_data_file(Path(__file__).with_name("told_to_models.toml"), dict[str, dict[str, str]])["checked"]
_DONE: Final = {action: act for act, actions in _TABLES["done"].items() for action in actions}
_MOVED: Final = frozenset({"cover.set_cover_position", "valve.set_valve_position"})
"""Actions that set a position; 0 is written as closing."""
_WHOLLY_OPEN: Final = 100
"""%."""
_SELECTING: Final = frozenset({"area", "device_class", "domain", "floor", "name"})
"""Arguments that select entities and say nothing of what is done to them."""
_MUTES: Final = {"HassMediaPlayerMute": "mute", "HassMediaPlayerUnmute": "unmute"}
_LOUDNESS: Final = "HassSetVolumeRelative"
_UNCHOSEN: Final = frozenset({"automation", "button", "input_button", "scene", "script", "timer"})
"""Domains in which a model chooses by what a thing does, not by what it is called."""
_VERBS: Final = frozenset({"lock", "vacuum"})
"""Domains whose kind is also what is done."""
_SOUND: Final = ("mute", "unmute", "louder", "quieter")
_LOUD: Final = "media_player."
"""Only media players fulfil the wishes of `_SOUND`, so that the words need not name one."""
_MOST_NAMED: Final = 8
_SHORT: Final = 3
"""Words of a request that need not name what it is about: "close it please"."""


@dataclass(slots=True)
class RequestCheck:
    """Compares the calls of one turn with the words of the person."""

    hass: HomeAssistant
    request: Request
    earlier: Sequence[str] = ()
    """The words of the last messages before this turn."""
    can_ask: bool = True
    can_choose: bool = True
    """Whether somebody is there that can be asked which one, in words."""
    chosen: AbstractSet[tuple[str, str]] = frozenset()
    """The tools and arguments of calls that the person has chosen."""
    _returned: set[tuple[str, str]] = field(default_factory=set)
    """Calls that went back to the model."""
    _fitting: Sequence[ExposedEntity] | None = None
    """The entities that a plain command may mean, once they are looked for; none for other words."""
    _wishes: AbstractSet[str] | None = None

    @property
    def _words(self) -> Sequence[str]:
        return self.request.words

    @property
    def _wanted(self) -> AbstractSet[str]:
        """The wishes of the words, found once."""
        if self._wishes is None:
            self._wishes = self.request.wanted
        return self._wishes

    async def async_objection(
        self, tool: ToolDefinition, arguments: JsonObject, effects: Touches, review_of: _ReviewOf
    ) -> Deny | Ask | tuple[CallOption, ...] | None:
        """Return why a call does not run as it is, or what else the words may mean; None if they may mean it."""
        key = tool.name, canonical_json(arguments)
        if key in self.chosen:
            return None
        home, done = async_get_home(self.hass, CONVERSATION), _all_done(tool.name, arguments, effects)
        is_asked = self.request.asks and not {one.domain for one in effects.actions} <= _UNCHOSEN
        wanted = "" if is_asked else await self._opposite(home, done, effects)
        if is_asked or wanted:
            insists = key in self._returned or bool(self.chosen)
            self._returned.add(key)
            reason = _TOLD["question" if is_asked else "opposite"].format(wanted=wanted)
            return Ask("", "opposite") if insists and self.can_ask else Deny(reason, is_final=insists)
        several, leads_away = await self._which_ones(home, arguments, done, effects)
        near = [one for one in several if self.request.area_id and one.area_id == self.request.area_id]
        is_chosen = {action.entity_id for action in effects.actions} == {one.entity_id for one in near}
        if len(several) > 1 and len(near) == 1 and not is_chosen and key not in self._returned:
            self._returned.add(key)
            return Deny(_TOLD["near"].format(name=quoted(near[0].names[0])), is_final=False)
        first = CallReview(ToolCall("", tool.name, key[1]), effects)
        found = [(one, await self._option(home, one, arguments, first, review_of)) for one in several]
        # What rules forbid is no choice, unless the words lead to it.
        found = [(one, review) for one, review in found if leads_away or review is None or not review.refusal]
        if len(found) < 2:  # noqa: PLR2004  # and another one
            return None
        place = self._unknown_place(home)
        options = [
            CallOption(one.entity_id, review.call, review.effects)
            for one, review in found
            if review and isinstance(review.effects, Touches)
        ]
        if self.can_choose and not place and len(options) == len(found):
            return tuple(options)
        names = listed([quoted(one.names[0]) for one, _ in found])
        return Deny(_TOLD["nowhere" if place else "which_one"].format(place=quoted(place), names=names))

    async def async_hint(self) -> tuple[str, bool]:
        """Return a hint for a model that did nothing: what a plain command fits; empty if nothing does.

        It names the entity and what it can do. The call is the model's, and is judged like each of its calls. Where a
        command may mean several, it is only for a model that reports an action, as the second value tells.
        """
        if not await self.async_is_left_undone():
            return "", False
        fitting = self._fitting or ()
        home, (one, *others) = async_get_home(self.hass, CONVERSATION), fitting
        if others or is_about_all(self.request.text, self.request.language):
            names = listed([quoted(each.names[0]) for each in fitting[:_MOST_NAMED]])
            return _TOLD["some_fit"].format(names=names), True
        where = f" in {quoted(room[0])}" if (room := _room(home, one.area_id)) else ""
        entity = f"the {one.domain} {quoted(one.names[0])}{where}"
        return _TOLD["one_fits"].format(entity=entity, can=listed(_TABLES["can"][one.domain])), False

    async def _async_find_fitting(self) -> Sequence[ExposedEntity]:
        text, language, wanted = self.request.text, self.request.language, self._wanted
        if not wanted or text.rstrip().endswith(QUESTION_ENDS) or may_except(text, language):
            return ()
        home = async_get_home(self.hass, CONVERSATION)
        rooms = [room for room in home.rooms if self.request.has_word_of(room.name, *room.aliases)]
        places = {room.area_id for room in rooms}
        in_rooms = self.request.words_of([name for room in rooms for name in (room.name, *room.aliases)])
        able = [one for one in home.entities if one.names and not wanted.isdisjoint(_TABLES["can"].get(one.domain, ()))]
        able = [one for one in able if not places or one.area_id in places]
        able = [one for one in able if self.hass.states.get(one.entity_id)]
        if named := [one for one in able if is_named_in(self.hass, one.entity_id, self._words)]:
            return named
        of_kind = await self._of_named_kind([one.entity_id for one in home.entities], in_any_form=True)
        led_to = {one.entity_id for one in home.entities if self.request.words_of(one.names) - in_rooms} | of_kind
        is_sound = not wanted.isdisjoint(_SOUND) and all(one.startswith(_LOUD) for one in led_to)
        return [one for one in able if one.entity_id in led_to or (is_sound and one.entity_id.startswith(_LOUD))]

    async def async_is_left_undone(self) -> bool:
        """Return whether something is not as a plain command wants it; of several that it may mean, none is."""
        if self._fitting is None:
            self._fitting = await self._async_find_fitting()
        states = [state.state for one in self._fitting if (state := self.hass.states.get(one.entity_id))]
        wanted = frozenset[str]().union(*(_TABLES["fulfilled"].get(one, ()) for one in self._wanted))
        is_any = is_about_all(self.request.text, self.request.language)
        return bool(states) and not wanted.issuperset(states) and (is_any or wanted.isdisjoint(states))

    async def _opposite(self, home: Home, done: AbstractSet[str], effects: Touches) -> str:
        """Return what the words want where a call does the opposite; empty if it does not."""
        wanted = self._wanted
        if self._agrees(done, wanted) or may_except(self.request.text, self.request.language):
            return ""
        opposite = next((one for one in sorted(wanted) if not done.isdisjoint(_TABLES["opposites"][one])), "")
        if not opposite or len(self._words) <= _SHORT:
            return opposite
        targets = {action.entity_id for action in effects.actions}
        is_named = any(self._words_for(home, one) for one in home.all_entities if one.entity_id in targets)
        return opposite if is_named or await self._of_named_kind(targets, _VERBS) else ""

    @staticmethod
    def _agrees(done: AbstractSet[str], wanted: AbstractSet[str]) -> bool:
        return any(not wanted.isdisjoint(_TABLES["agreeing"].get(one, (one,))) for one in done)

    def _words_for(self, home: Home, one: ExposedEntity) -> frozenset[str]:
        """Return the words of the request that are words of an entity or its room."""
        return self.request.words_of((*one.names, *_room(home, one.area_id)))

    async def _which_ones(
        self, home: Home, arguments: JsonObject, done: AbstractSet[str], effects: Touches
    ) -> tuple[Sequence[ExposedEntity], bool]:
        """Return what the words may mean as well as what a model chose, one of them, and whether they lead to another.

        Nothing is returned if the call is right.
        """
        targets, request = {action.entity_id for action in effects.actions}, self.request
        if len(targets) != 1 or not isinstance(arguments.get("name"), str):
            return (), False
        (target,) = targets
        domain = target.partition(".")[0]
        is_plain = domain == TODO or self._agrees(done, self._wanted)
        if not is_plain or domain in _UNCHOSEN:
            return (), False
        kind, of_domain = _kind(self.hass, target), [one for one in home.all_entities if one.domain == domain]
        alike = [one for one in of_domain if _kind(self.hass, one.entity_id) == kind]
        if all(one.entity_id != target for one in alike) or self._is_named(target, alike):
            return (), False
        meant = {one.entity_id: self._words_for(home, one) for one in alike}
        rivals = [one for one in alike if meant[one.entity_id] >= meant[target]]
        near = [one for one in rivals if request.area_id and one.area_id == request.area_id]
        needless = frozenset[str]({STATE_UNAVAILABLE}).union(*(_TABLES["reached"].get(one, ()) for one in done))
        states = {one.entity_id: self.hass.states.get(one.entity_id) for one in rivals}
        useful = [one for one in rivals if (state := states[one.entity_id]) and state.state not in needless]
        # Words that lead to another one outweigh the room of the person, and what needs doing.
        led_to = [one for one in rivals if meant[one.entity_id] > meant[target]]
        is_only = any([one.entity_id for one in those] == [target] for those in (near, rivals, useful))
        if not led_to and (is_only or not useful):
            return (), False
        is_another_named = any(has_name_in(self._words, one.names) for one in rivals)
        area = next((one.area_id for one in rivals if one.entity_id == target), None)
        if not led_to and not is_another_named and request.has_word_of(*_room(home, area)):
            return (), False
        shared = set[str].intersection(*({*heard_words(" ".join(one.names))} for one in rivals))
        is_about_kind = not shared.isdisjoint(self._words) or await self._of_named_kind(targets, _VERBS)
        if not (is_another_named or is_about_kind) or is_about_all(request.text, request.language):
            return (), False
        if led_to:
            return [*(one for one in rivals if one.entity_id == target), *led_to], True
        meant_here = near if target in {one.entity_id for one in near} else rivals
        meant_here = [one for one in meant_here if one.entity_id == target or one in useful]
        return sorted(meant_here, key=lambda one: one.entity_id != target), False

    async def _option(
        self, home: Home, one: ExposedEntity, arguments: JsonObject, first: CallReview, review_of: _ReviewOf
    ) -> CallReview | None:
        """Review the same call as `first` for one of several things; None if no name makes it act on this one alone."""
        if first.entity_ids == {one.entity_id}:
            return first
        wanted = frozenset(action._replace(entity_id=one.entity_id) for action in actions_of(first.effects))
        beside = {name: value for name, value in arguments.items() if name not in _SELECTING}
        rooms = _room(home, one.area_id)[:1]
        for place in ({}, *({"area": room} for room in rooms)):
            review = await review_of({**beside, "name": one.names[0], **place})
            if isinstance(review.effects, Touches) and review.effects.actions == wanted:
                return review
        return None

    def _unknown_place(self, home: Home) -> str:
        """Return what the words name as a place where the home knows none of them; empty if it does."""
        named = [name for room in home.rooms for name in (room.name, *room.aliases)]
        named += [name for floor in home.floors for name in (floor.name, *floor.aliases)]
        named += [name for one in home.all_entities for name in one.names]
        places = self.request.places
        return "" if words_alike(places, telling_words(*named)) else " ".join(sorted(places))

    def _is_named(self, entity_id: str, alike: Sequence[ExposedEntity]) -> bool:
        """Return whether the words of this turn name an entity, or the last ones before that name one of its kind."""
        if is_named_in(self.hass, entity_id, self._words):
            return True
        for words in map(heard_words, reversed(self.earlier)):
            if named := [one.entity_id for one in alike if has_name_in(words, one.names)]:
                return entity_id in named
        return False

    def _names(self, kind: str, *, in_any_form: bool) -> bool:
        words = heard_words(kind)
        is_form = in_any_form and all(words_alike(self._words, (word,)) for word in words)
        return is_form or contains_phrase(self._words, words)

    async def _of_named_kind(
        self, entity_ids: Collection[str], leave_out: AbstractSet[str] = frozenset(), *, in_any_form: bool = False
    ) -> AbstractSet[str]:
        """Return the entities whose kind the words name, as for one of it: "the light"; some domains are left out.

        With `in_any_form`, as for several: "the lights".
        """
        kinds = {one: _kind(self.hass, one) for one in entity_ids if one.partition(".")[0] not in leave_out}
        languages = (self.request.language, self.hass.config.language)
        names = await async_kind_names(self.hass, languages, kinds.values())
        named = {kind for kind, ways in names.items() if any(self._names(one, in_any_form=in_any_form) for one in ways)}
        return {one for one, kind in kinds.items() if kind in named}


def _room(home: Home, area_id: str | None) -> tuple[str, ...]:
    """Return the name of a room and its aliases; nothing without a room."""
    return next(((room.name, *room.aliases) for room in home.rooms if room.area_id == area_id), ())


def _kind(hass: HomeAssistant, entity_id: str) -> tuple[str, str]:
    state = hass.states.get(entity_id)
    return entity_id.partition(".")[0], str(state.attributes.get(ATTR_DEVICE_CLASS) or "") if state else ""


def _all_done(tool: str, arguments: JsonObject, effects: Touches) -> frozenset[str]:
    """Return what a call does, as the words have it."""
    by_action = (word for one in effects.actions if (word := _done(one, arguments)))
    return frozenset(_by_tool(tool, arguments)) or frozenset(by_action)


def _by_tool(tool: str, arguments: JsonObject) -> Iterator[str]:
    """Yield what is done by a tool whose actions do not tell it."""
    name = tool.rpartition("__")[2]
    if name in _MUTES:
        yield _MUTES[name]
    elif name == _LOUDNESS:
        step = str(arguments.get("volume_step", ""))
        yield "quieter" if fold(step).startswith(("-", "down")) else "louder"


def _done(action: EntityAction, arguments: JsonObject) -> str:
    """Return what an action does, as the words have it; empty for others, and for one that sets something to 0 %."""
    domain, _, service = action.action.partition(".")
    if domain not in _UNCHOSEN and service in {"turn_on", "turn_off"} and arguments.keys() <= _SELECTING:
        return service.removeprefix("turn_")
    if action.action in _MOVED and arguments.get("position") == _WHOLLY_OPEN:
        return "open"
    return _DONE.get(action.action, "")
