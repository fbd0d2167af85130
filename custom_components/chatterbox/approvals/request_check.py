"""Compares a call with the words of the person: it does not do the opposite, nor act on what only a model chose.

A call that does the opposite goes back to the model once, and the person is asked if the model insists. A name that a
model chose counts if the words lead to it: they name it, its room or its alias better than the others of its kind, or
it is the only one of these in the room of the person. Otherwise the person is asked which one. Decision 51.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.todo.const import DOMAIN as TODO
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject, ToolCall, ToolDefinition, canonical_json
from ..agent.protocols import Ask, Deny
from ..agent.text import QUESTION_ENDS, find_tool, fold, heard_words, read_data_file
from ..effects.effect import EntityAction, Touches, actions_of
from ..effects.reading import NOTHING_FITS, Fitting, async_fitting
from ..effects.request import Request
from ..home.description import listed, quoted
from ..home.entities import ExposedEntity, Home, async_get_home, telling_words
from ..home.entity_matches import has_name_in, is_named_in
from ..home.search import async_kind_names, kind_of_entity
from ..nlu.commands import KINDS, EntityKind
from ..nlu.vocabulary import KnownEntity
from ..offline.provider import local_call
from ..speech.text.times import times_in
from .answers.language import is_about_all
from .review import CallOption, CallReview

type _ReviewOf = Callable[[JsonObject], Awaitable[CallReview]]
"""Reviews a call of the same tool with other arguments."""

_TABLES: Final = read_data_file(Path(__file__).with_suffix(".toml"), dict[str, dict[str, list[str]]])
_TOLD: Final = read_data_file(Path(__file__).with_name("told_to_models.toml"), dict[str, dict[str, str]])["checked"]
_DONE: Final = {action: act for act, actions in _TABLES["done"].items() for action in actions}
_MOVED: Final = frozenset({"cover.set_cover_position", "valve.set_valve_position"})
"""Actions that set a position; 0 is written as closing."""
_LEVELS: Final = {"fan.set_percentage": "percentage", "fan.turn_on": "percentage", "light.turn_on": "brightness"}
"""Arguments with which something is off if they are 0, and on otherwise, by action."""
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
_KINDS: Final = {**KINDS, "list": EntityKind(frozenset({TODO}))}
_MOST_NAMED: Final = 8
_ENDING: Final = 4
"""Letters of the longest endings of words."""
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
    tools: Sequence[ToolDefinition] = ()
    """The tools of calls that are proposed where a model leaves something undone; none if nothing is."""
    asked_about: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """The tools of calls that were proposed: whether the person is asked about any, or only about a risky one, and what
    the person is told before.
    """
    proposes: bool = False
    """Whether calls are proposed in place of those of a model, which are the opposite, or leave out some of all."""
    _taken: set[str] = field(default_factory=set)
    """The entities of calls that nothing was objected to."""
    _offered: AbstractSet[str] = frozenset()
    """The entities between which the person is to choose."""
    _returned: set[tuple[str, str]] = field(default_factory=set)
    """Calls that went back to the model."""
    _found: Fitting | None = None
    """The entities that a plain command may mean, once they are looked for."""

    @property
    def may_be_command(self) -> bool:
        """Whether the words may be a command: there are several, and they are not marked as a question."""
        return len(self.request.words) > 1 and not self._is_marked

    @property
    def _is_marked(self) -> bool:
        """Whether the words end with a question mark."""
        return self.request.text.rstrip().endswith(QUESTION_ENDS)

    @property
    def is_about_all(self) -> bool:
        """Whether the words are about all things of a kind."""
        return is_about_all(self.request.text, self.request.language)

    @property
    def _home(self) -> Home:
        return async_get_home(self.hass, CONVERSATION)

    async def async_objection(
        self, tool: ToolDefinition, arguments: JsonObject, effects: Touches, review_of: _ReviewOf
    ) -> Deny | Ask | tuple[CallOption, ...] | None:
        """Return why a call does not run as it is, or what else the words may mean; None if they may mean it."""
        key = tool.name, canonical_json(arguments)
        if key in self.chosen:
            return None
        done = _all_done(tool.name, arguments, effects)
        targets = {action.entity_id for action in effects.actions}
        if objection := await self._against_words(key, done, targets):
            return objection
        if targets and targets <= self._offered:
            return Deny(_TOLD["choosing"])
        if elsewhere := self._elsewhere(targets):
            return Deny(elsewhere)
        target = next(iter(targets)) if len(targets) == 1 and isinstance(arguments.get("name"), str) else ""
        several, leads_away = await self._which_ones(target, done)
        near = [one for one in several if self._is_near(one)]
        if len(several) > 1 and len(near) == 1 and targets != {near[0].entity_id} and key not in self._returned:
            self._returned.add(key)
            return Deny(_TOLD["near"].format(name=quoted(near[0].names[0])), is_final=False)
        first = CallReview(ToolCall("", tool.name, key[1]), effects)
        found = [(one, await self._option(one, arguments, first, review_of)) for one in several]
        # What rules forbid is no choice, unless the words lead to it.
        found = [(one, review) for one, review in found if leads_away or review is None or not review.refusal]
        if len(found) > 1:
            return self._choice(found)
        self._taken |= targets
        return None

    def _choice(self, found: Sequence[tuple[ExposedEntity, CallReview | None]]) -> Deny | tuple[CallOption, ...]:
        """Return the calls between which the person chooses, or what a model is told to ask."""
        place = self._unknown_place()
        options = [
            CallOption(one.entity_id, review.call, review.effects)
            for one, review in found
            if review and isinstance(review.effects, Touches)
        ]
        if self.can_choose and not place and len(options) == len(found):
            self._offered = {option.entity_id for option in options}
            return tuple(options)
        reason = _TOLD["nowhere" if place else "which_one"]
        return Deny(reason.format(place=quoted(place), names=_first_names([one for one, _ in found])))

    async def _against_words(
        self, key: tuple[str, str], done: AbstractSet[str], targets: AbstractSet[str]
    ) -> Deny | Ask | None:
        """Return why a call does not run that changes something for a question, or does the opposite of a command."""
        domains = {one.partition(".")[0] for one in targets}
        is_asked = self.request.gist.asks and not domains <= _UNCHOSEN
        wanted = "" if is_asked else await self._opposite(done, targets)
        if not (is_asked or wanted):
            return None
        insists = key in self._returned or bool(self.chosen)
        self._returned.add(key)
        if wanted:
            self.proposes = insists and bool(await self.async_propose())
        if insists and self.can_ask and not self.proposes:
            return Ask("", "opposite")
        return Deny(_TOLD["question" if is_asked else "opposite"].format(wanted=wanted), is_final=insists)

    def _elsewhere(self, targets: AbstractSet[str]) -> str:
        """Return what a model is told whose call is not for the floor that the words name; empty if it is."""
        home = self._home
        floors = [floor for floor in home.floors if self._is_called((floor.name, *floor.aliases))]
        on_floor = {room.area_id for room in home.rooms if room.floor_id in {floor.floor_id for floor in floors}}
        on_others = {room.area_id for room in home.rooms if room.floor_id} - on_floor
        of_floors = self.request.words_of(name for floor in floors for name in (floor.name, *floor.aliases))
        away = [
            one
            for one in home.all_entities
            if one.entity_id in targets
            and one.area_id in on_others
            and self.request.words_of(one.names).isdisjoint(of_floors)
            and not self._is_called((*one.names, *_room(home, one.area_id)))
        ]
        if not floors or not away:
            return ""
        domains = {one.domain for one in away}
        there = [one for one in home.entities if one.area_id in on_floor and one.domain in domains]
        floor = listed([quoted(floor.name) for floor in floors])
        return _TOLD["elsewhere"].format(floor=floor, names=_first_names(away), there=_first_names(there) or "nothing")

    async def async_hint(self) -> tuple[str, bool]:
        """Return a hint for a model that did nothing: what a plain command fits; empty if nothing does.

        It names the entity and what it can do. The call is the model's, and is judged like each of its calls. Where a
        command may mean several, it is only for a model that reports an action, as the second value tells.
        """
        if not await self.async_is_left_undone():
            return "", False
        home, fitting = self._home, await self._async_fitting()
        one, *others = (one for one in home.entities if one.entity_id in fitting.ids)
        if others or self.is_about_all:
            return _TOLD["some_fit"].format(names=_first_names([one, *others])), True
        where = f" in {quoted(room[0])}" if (room := _room(home, one.area_id)) else ""
        entity = f"the {one.domain} {quoted(one.names[0])}{where}"
        return _TOLD["one_fits"].format(entity=entity, can=listed(_TABLES["can"][one.domain])), False

    def ask_about(self, call: ToolCall, reason: str = "", *, always: bool = True) -> None:
        """Have the person asked about a call, after a reason, whatever the rules say; else only if it is risky."""
        self.asked_about[call.name] = always, reason

    async def async_propose(self) -> Sequence[ToolCall]:
        """Return calls that do what the words want, and that the person is asked about; none if that is not plain."""
        fitting, left = await self._async_fitting(), await self._async_left()
        is_plain = fitting.is_explained or (
            all(is_named_in(self.hass, one, self.request.words) for one in fitting.ids)
            and not self._unknown_place()
            and not times_in(self.request.text, self.request.language)
        )
        is_one = len(fitting.ids) == 1 or self.is_about_all
        if not (self.tools and self.can_ask and is_plain and is_one) or len(left) > _MOST_NAMED:
            return ()
        calls = [call for one in left if (call := fitting.calls.get(one))]
        return [local_call(tool.name, {**call.slots}) for call in calls if (tool := find_tool(call.intent, self.tools))]

    async def async_leaves_out(self, targets: AbstractSet[str]) -> Deny | None:
        """Return why a call does not run that is for some of all that the words mean: calls for all are proposed."""
        left = await self._async_left() if self.is_about_all else ()
        if not targets < {*left} or len(await self.async_propose()) != len(left):
            return None
        self.proposes = True
        return Deny(_TOLD["some_of_all"])

    async def _async_fitting(self) -> Fitting:
        request = self.request
        if self._is_marked or not request.gist.wanted:
            return NOTHING_FITS
        if self._found is None:
            self._found = await async_fitting(self.hass, request.text, request.language, request.area_id)
        return self._found

    async def _async_left(self) -> Sequence[str]:
        """Return the entities that a plain command may mean, and that are not as it wants them."""
        wanted, ids = self.request.gist.wanted, (await self._async_fitting()).ids
        reached = {state for wish in wanted for state in _TABLES["fulfilled"].get(wish, ())}
        able = {domain for domain, wishes in _TABLES["can"].items() if not wanted.isdisjoint(wishes)}
        meant = (one for one in self._home.entities if one.entity_id in ids and one.domain in able)
        states = [self.hass.states.get(one.entity_id) for one in meant]
        return [state.entity_id for state in states if state and state.state not in reached]

    async def async_is_left_undone(self) -> bool:
        """Return whether something is not as a plain command wants it; of several that it may mean, none is."""
        left, fitting = await self._async_left(), await self._async_fitting()
        return bool(left) and (self.is_about_all or len(left) == len(fitting.ids))

    async def _opposite(self, done: AbstractSet[str], targets: AbstractSet[str]) -> str:
        """Return what the words want where a call does the opposite; empty if it does not."""
        wanted = sorted(self.request.gist.wanted)
        opposite = next((one for one in wanted if not done.isdisjoint(_TABLES["opposites"][one])), "")
        if not opposite or self._agrees(done):
            return ""
        is_named = any(self._words_for(one) for one in self._home.all_entities if one.entity_id in targets)
        is_meant = is_named or len(self.request.words) <= _SHORT or await self._names_kind_of(targets)
        return opposite if is_meant else ""

    def _agrees(self, done: AbstractSet[str]) -> bool:
        """Return whether something that is done is wanted."""
        wanted = self.request.gist.wanted
        return any(not wanted.isdisjoint(_TABLES["agreeing"].get(one, (one,))) for one in done)

    def _words_for(self, one: ExposedEntity) -> frozenset[str]:
        """Return the words of the request that are words of an entity or its room."""
        return self.request.words_of((*one.names, *_room(self._home, one.area_id)))

    def _is_near(self, one: ExposedEntity) -> bool:
        return self.request.area_id is not None and one.area_id == self.request.area_id

    async def _which_ones(self, target: str, done: AbstractSet[str]) -> tuple[Sequence[ExposedEntity], bool]:
        """Return what the words may mean as well as the target of a call, and whether they lead to another.

        Nothing is returned if the call is right, and for one without a target of its own.
        """
        domain, kind = target.partition(".")[0], kind_of_entity(self.hass, target)
        is_plain = domain == TODO or self._agrees(done)
        alike = [one for one in self._home.all_entities if kind_of_entity(self.hass, one.entity_id) == kind]
        chosen = next((one for one in alike if one.entity_id == target), None)
        is_unclear = is_plain and domain not in _UNCHOSEN and not self.is_about_all
        if chosen is None or not is_unclear or self._is_named(target, alike):
            return (), False
        words = self._words_for(chosen)
        rivals = [one for one in alike if self._words_for(one) >= words]
        near = [one for one in rivals if self._is_near(one)]
        rivals = [one for one in rivals if one is chosen or one.entity_id not in self._taken]
        is_another_named = any(has_name_in(self.request.words, one.names) for one in rivals)
        if not is_another_named and not await self._are_named_as_kind(rivals):
            return (), False
        reached = {state for act in done for state in _TABLES["reached"].get(act, ())}
        # Words that lead to another one outweigh the room of the person, and, if they say its name, what needs doing.
        led_to = [one for one in rivals if self._words_for(one) > words]
        led_to = [one for one in led_to if self._state(one) not in reached or self._is_called(one.names)]
        if led_to:
            return [chosen, *led_to], True
        is_in_named_room = not is_another_named and self.request.has_word_of(*_room(self._home, chosen.area_id))
        useful = [one for one in rivals if self._state(one) not in {STATE_UNAVAILABLE, *reached}]
        if is_in_named_room or not useful or [chosen] in (near, rivals, useful):
            return (), False
        around = near if chosen in near else rivals
        return [chosen, *(one for one in useful if one in around and one is not chosen)], False

    def _state(self, one: ExposedEntity) -> str:
        state = self.hass.states.get(one.entity_id)
        return state.state if state else STATE_UNAVAILABLE

    async def _option(
        self, one: ExposedEntity, arguments: JsonObject, first: CallReview, review_of: _ReviewOf
    ) -> CallReview | None:
        """Review the same call as `first` for one of several things; None if no name makes it act on this one alone."""
        if first.entity_ids == {one.entity_id}:
            return first
        wanted = frozenset(action._replace(entity_id=one.entity_id) for action in actions_of(first.effects))
        beside = {name: value for name, value in arguments.items() if name not in _SELECTING}
        rooms = _room(self._home, one.area_id)[:1]
        for place in ({}, *({"area": room} for room in rooms)):
            review = await review_of({**beside, "name": one.names[0], **place})
            if isinstance(review.effects, Touches) and review.effects.actions == wanted:
                return review
        return None

    def _is_called(self, names: Iterable[str]) -> bool:
        """Return whether the words hold all telling words of one of some names, in any order."""
        return any(all(map(self._holds, words)) for name in names if (words := telling_words(name)))

    def _holds(self, form: str) -> bool:
        """Return whether the words hold a word, or a form of it that is not much shorter: "down" is no "downstairs"."""
        return any(len(form) - len(word) < _ENDING for word in self.request.words_of((form,)))

    def _unknown_place(self) -> str:
        """Return what the words name as a place where the home knows none of them; empty if it does."""
        home, place = self._home, self.request.gist.unknown_place
        names = [name for room in home.rooms for name in (room.name, *room.aliases)]
        names += [name for floor in home.floors for name in (floor.name, *floor.aliases)]
        names += [name for one in home.all_entities for name in one.names]
        return place if self.request.words_of(names).isdisjoint(heard_words(place)) else ""

    def _is_named(self, entity_id: str, alike: Sequence[ExposedEntity]) -> bool:
        """Return whether the words of this turn name an entity, or the last ones before that name one of its kind."""
        if is_named_in(self.hass, entity_id, self.request.words):
            return True
        for words in map(heard_words, reversed(self.earlier)):
            if named := [one.entity_id for one in alike if has_name_in(words, one.names)]:
                return entity_id in named
        return False

    async def _are_named_as_kind(self, alike: Sequence[ExposedEntity]) -> bool:
        """Return whether the words name the kind of some entities, as for one of them: "the light"."""
        shared = set[str].intersection(*({*heard_words(" ".join(one.names))} for one in alike))
        return not shared.isdisjoint(self.request.words) or await self._names_kind_of([alike[0].entity_id])

    async def _names_kind_of(self, entity_ids: Collection[str]) -> bool:
        """Return whether the words name the kind of one of some entities, as for one of them."""
        kinds = {kind_of_entity(self.hass, one) for one in entity_ids if one.partition(".")[0] not in _VERBS}
        names = await async_kind_names(self.hass, (self.request.language, self.hass.config.language), kinds)
        if has_name_in(self.request.words, chain.from_iterable(names.values())):
            return True
        heard = [one for value in self.request.gist.kinds if (one := _KINDS.get(value)) and not one.is_plural]
        return any(
            one.has(KnownEntity("", domain, (), device_class)) for one in heard for domain, device_class in kinds
        )


def _first_names(entities: Sequence[ExposedEntity]) -> str:
    return listed([quoted(one.names[0]) for one in entities if one.names][:_MOST_NAMED])


def _room(home: Home, area_id: str | None) -> tuple[str, ...]:
    """Return the name of a room and its aliases; nothing without a room."""
    return next(((room.name, *room.aliases) for room in home.rooms if room.area_id == area_id), ())


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
    """Return what an action does, as the words have it; empty for others."""
    domain, _, service = action.action.partition(".")
    if domain not in _UNCHOSEN and service in {"turn_on", "turn_off"} and arguments.keys() <= _SELECTING:
        return service.removeprefix("turn_")
    if action.action in _MOVED and arguments.get("position") == _WHOLLY_OPEN:
        return "open"
    if (level := arguments.get(_LEVELS.get(action.action, ""))) is not None:
        return "on" if level else "off"
    return _DONE.get(action.action, "")
