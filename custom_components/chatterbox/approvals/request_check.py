"""Compares a call with the words of the person: it does not do the opposite, nor act on what only a model chose.

A call that does the opposite goes back to the model once, and the person is asked if
the model insists. A name that a model chose counts if the words lead to it: they name
it, its room or its alias better than the others of its kind, or it is the only one of
these in the room of the person. Otherwise the person is asked which one. Decision 51.
"""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from dataclasses import dataclass, field
from itertools import batched
from typing import Final, NamedTuple

from homeassistant.components.todo.const import DOMAIN as TODO
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject, ToolCall, ToolDefinition, canonical_json
from ..agent.protocols import Ask, Deny
from ..agent.text import (
    MOST_COMPARED,
    contains_phrase,
    find_tool,
    fold,
    heard_words,
    read_data_file,
    words_alike,
)
from ..effects.effect import Effects, EntityAction
from ..effects.reading import async_unexplained
from ..home.description import listed, quoted
from ..home.entities import (
    ExposedEntity,
    Floor,
    Home,
    HomePlace,
    Room,
    telling_words,
)
from ..home.entity_matches import entity_kinds, has_name_in, is_named_in
from ..home.request import QUESTION_ENDS, Request
from ..home.search import async_kind_names
from ..nlu.kinds import KINDS, EntityKind
from ..nlu.lexicon import Role, lexicon, tokens_of_phrase
from ..nlu.vocabulary import KnownEntity
from ..offline.provider import local_call
from ..speech.text.times import times_in
from .answers.language import is_about_all, may_except
from .review import CallOption, CallReview

type _ReviewOf = Callable[[JsonObject], Awaitable[CallReview]]
"""Reviews a call of the same tool with other arguments."""

_TABLES: Final = read_data_file(__file__, dict[str, dict[str, list[str]]])
_TOLD: Final = read_data_file(
    __file__, dict[str, dict[str, str]], "told_to_models.toml"
)["checked"]
_DONE: Final = {
    action: act for act, actions in _TABLES["done"].items() for action in actions
}
_MOVED: Final = frozenset({"cover.set_cover_position", "valve.set_valve_position"})
"""Actions that set a position; 0 is written as closing."""
_LEVELS: Final = {
    "fan.set_percentage": "percentage",
    "fan.turn_on": "percentage",
    "light.turn_on": "brightness",
}
"""Arguments with which something is off if they are 0, and on otherwise, by action."""
_WHOLLY_OPEN: Final = 100
"""%."""
SELECTING: Final = frozenset({"area", "device_class", "domain", "floor", "name"})
"""Arguments that select entities and say nothing of what is done to them."""
_UNCHOSEN: Final = frozenset(
    {
        "automation",
        "button",
        "input_button",
        "scene",
        "script",
        "timer",
    }
)
"""Domains in which a model chooses by what a thing does, not by what it is called."""
_VERBS: Final = frozenset({"lock", "vacuum"})
"""Domains whose kind is also what is done."""
_SOUND: Final = (
    "mute",
    "unmute",
    "louder",
    "quieter",
)
_LOUD: Final = "media_player."
"""Only media players fulfil the wishes of `_SOUND`, so that the words need not name one."""
_AT_ONCE: Final = 100
"""Entities that are compared with the words before other tasks run."""
_MOST_NAMED: Final = 8
_ENDING: Final = 4
"""Letters of the longest endings of words."""
_SHORT: Final = 3
"""Words of a request that need not name what it is about: "close it please"."""


class _Rival(NamedTuple):
    """A thing that the words may mean as well as what a model chose, or that itself."""

    entity: ExposedEntity
    is_near: bool
    """Whether it is in the room of the person."""
    is_useful: bool
    """Whether it is not yet as the words want it."""
    is_led_to: bool
    """Whether more of the words lead to it than to what a model chose."""


@dataclass(slots=True)
class RequestCheck:
    """Compares the calls of one turn with the words of the person."""

    hass: HomeAssistant
    home: Home
    """As the agent may see it."""
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
    _opposed: AbstractSet[str] = frozenset()
    """The entities to which a model would have done the opposite."""
    _taken: set[str] = field(default_factory=set)
    """The entities of calls that nothing was objected to."""
    _offered: AbstractSet[str] = frozenset()
    """The entities between which the person is to choose."""
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
        self,
        tool: ToolDefinition,
        arguments: JsonObject,
        effects: Effects,
        review_of: _ReviewOf,
    ) -> Deny | Ask | tuple[CallOption, ...] | None:
        """Return why a call does not run as it is, or what else the words may mean; None if they may mean it."""
        key = tool.name, canonical_json(arguments)
        if key in self.chosen:
            return None
        done = _all_done(tool.name, arguments, effects)
        targets = effects.entity_ids
        objection = await self._against_words(key, done, effects)
        if objection:
            return objection
        if targets and targets <= self._offered:
            return Deny(_TOLD["choosing"])
        elsewhere = self._elsewhere(key, targets)
        if elsewhere:
            return elsewhere
        several, leads_away = await self._which_ones(arguments, done, effects)
        near = self._one_near(several, targets)
        if near and key not in self._returned:
            self._returned.add(key)
            reason = _TOLD["near"].format(name=quoted(near.names[0]))
            return Deny(reason, is_final=False)
        first = CallReview(
            ToolCall("", tool.name, key[1]),
            effects,
        )
        found = list[tuple[ExposedEntity, CallReview | None]]()
        for one in several:
            review = await self._option(
                one,
                arguments,
                first,
                review_of,
            )
            # What rules forbid is no choice, unless the words lead to it.
            if leads_away or review is None or not review.refusal:
                found.append((one, review))
        if len(found) < 2:  # noqa: PLR2004  # and another one
            self._taken |= targets
            return None
        return self._choice(found)

    def _one_near(
        self, several: Sequence[ExposedEntity], targets: AbstractSet[str]
    ) -> ExposedEntity | None:
        """Return the only one of several things that is in the room of the person, if a model chose another."""
        if not self.request.area_id:
            return None
        near = [one for one in several if one.area_id == self.request.area_id]
        if len(several) < 2 or len(near) != 1:  # noqa: PLR2004  # and another one
            return None
        if targets != {near[0].entity_id}:
            return near[0]
        return None

    def _choice(
        self, found: Sequence[tuple[ExposedEntity, CallReview | None]]
    ) -> Deny | tuple[CallOption, ...]:
        """Return calls to choose between, or what a model is told to ask where the person cannot be asked by us."""
        place = self._unknown_place()
        options = [
            CallOption(
                one.entity_id,
                review.call,
                review.effects,
            )
            for one, review in found
            if review and review.effects.is_known
        ]
        if self.can_choose and not place and len(options) == len(found):
            self._offered = {option.entity_id for option in options}
            return tuple(options)
        names = listed([one.names[0] for one, _ in found])
        reason = _TOLD["nowhere" if place else "which_one"]
        return Deny(reason.format(place=quoted(place), names=names))

    async def _against_words(
        self,
        key: tuple[str, str],
        done: AbstractSet[str],
        effects: Effects,
    ) -> Deny | Ask | None:
        """Return why a call does not run that changes something for a question, or does the opposite of a command."""
        is_asked = (
            self.request.asks
            and not {one.domain for one in effects.actions} <= _UNCHOSEN
        )
        if is_asked:
            wanted = ""
        else:
            wanted = await self._opposite(
                done,
                effects,
            )
        if not (is_asked or wanted):
            return None
        insists = key in self._returned or bool(self.chosen)
        self._returned.add(key)
        reason = _TOLD["question" if is_asked else "opposite"].format(wanted=wanted)
        if wanted:
            self._opposed = effects.entity_ids
            self.proposes = insists and bool(await self.async_propose())
        asks = insists and self.can_ask and not self.proposes
        if asks:
            return Ask("", "opposite")
        return Deny(reason, is_final=insists)

    def _elsewhere(
        self,
        key: tuple[str, str],
        targets: AbstractSet[str],
    ) -> Deny | None:
        """Return why a call does not run that is not for the place that the words name; None if it is.

        Words may name a room and mean another: "dinner is ready in the kitchen". A model
        that insists knows better.
        """
        rooms = self._named_rooms()
        places = rooms or self._named_floors()
        there = _areas_of(self.home, places)
        away = self._away_from(
            targets,
            places,
            there,
        )
        if not away:
            return None
        domains = {one.domain for one in away}
        fitting = [
            one
            for one in self.home.entities
            if one.area_id in there and one.domain in domains
        ]
        # What a room has not may be done from another one: the heating of the hall.
        may_be_meant = len(away) < len(targets) or not fitting
        if rooms and (may_be_meant or key in self._returned):
            return None
        self._returned.add(key)
        reason = _TOLD["elsewhere"].format(
            place=listed([place.name for place in places]),
            names=_first_names(away),
            there=_first_names(fitting) or "nothing",
        )
        return Deny(reason, is_final=not rooms)

    def _away_from(
        self,
        targets: AbstractSet[str],
        places: Sequence[HomePlace],
        there: AbstractSet[str],
    ) -> Sequence[ExposedEntity]:
        """Return the targets of a call that are known to be elsewhere, and that the words do not name."""
        if not places:
            return ()
        is_room = isinstance(places[0], Room)
        # A room without a floor may be on any.
        known = {room.area_id for room in self.home.rooms if is_room or room.floor_id}
        of_places = self.request.words_of(_names_of(places))
        return [
            one
            for one in self.home.all_entities
            if one.entity_id in targets
            and one.area_id in known - there
            and not self._has_word_of_place(
                one,
                of_places,
            )
        ]

    def _has_word_of_place(
        self,
        one: ExposedEntity,
        of_places: AbstractSet[str],
    ) -> bool:
        """Return whether the words of a place may be those of a thing, or of its room."""
        if not self.request.words_of(one.names).isdisjoint(of_places):
            return True
        return self._is_called((*one.names, *_room(self.home, one.area_id)))

    def _named_rooms(self) -> Sequence[Room]:
        """Return the rooms in which the words want something: "in the kitchen"; none if they may except some."""
        places = self.request.places
        if not places or may_except(self.request.text, self.request.language):
            return ()
        return [
            room
            for room in self.home.rooms
            if self._is_called(room.names)
            and not places.isdisjoint(self.request.words_of(_names_of([room])))
        ]

    def _named_floors(self) -> Sequence[Floor]:
        return [floor for floor in self.home.floors if self._is_called(floor.names)]

    async def async_hint(self) -> tuple[str, bool]:
        """Return a hint for a model that did nothing: what a plain command fits; empty if nothing does.

        It names the entity and what it can do. The call is the model's, and is judged
        like each of its calls. Where a command may mean several, it is only for a model
        that reports an action, as the second value tells.
        """
        if not await self.async_is_left_undone():
            return "", False
        fitting = await self._async_fitting()
        (one, *others) = fitting
        if others or self.is_about_all:
            return _TOLD["some_fit"].format(names=_first_names(fitting)), True
        room = _room(self.home, one.area_id)
        if room:
            where = f" in {quoted(room[0])}"
        else:
            where = ""
        entity = f"the {one.domain} {quoted(one.names[0])}{where}"
        return _TOLD["one_fits"].format(
            entity=entity, can=listed(_TABLES["can"][one.domain])
        ), False

    @property
    def may_be_command(self) -> bool:
        """Whether the words may be a command: there are several, and they are not marked as a question."""
        return len(self._words) > 1 and not self.request.text.rstrip().endswith(
            QUESTION_ENDS
        )

    def ask_about(
        self,
        call: ToolCall,
        reason: str = "",
        *,
        always: bool = True,
    ) -> None:
        """Have the person asked about a call, after a reason, whatever the rules say; else only if it is risky."""
        self.asked_about[call.name] = always, reason

    async def async_propose(self) -> Sequence[ToolCall]:
        """Return calls that do what the words want, and that the person is asked about; none if that is not plain."""
        if not (self.tools and self.can_ask):
            return ()
        calls = [
            call
            for one in await self._async_meant()
            if self._is_left(one) and (call := self._call_for(one))
        ]
        if len(calls) <= _MOST_NAMED:
            return calls
        return ()

    async def async_leaves_out(self, targets: AbstractSet[str]) -> Deny | None:
        """Return why a call does not run that is for some of all that the words mean: calls for all are proposed."""
        if not self.is_about_all:
            return None
        left = {
            one.entity_id for one in await self._async_meant() if self._is_left(one)
        }
        if not targets < left or len(await self.async_propose()) != len(left):
            return None
        self.proposes = True
        return Deny(_TOLD["some_of_all"])

    @property
    def is_about_all(self) -> bool:
        """Whether the words are about all things of a kind."""
        return is_about_all(
            self.request.text,
            self.request.language,
        )

    async def _async_meant(self) -> Sequence[ExposedEntity]:
        """Return what a model has opposed, else the one thing that the words fit, or all if all are meant."""
        meant: Sequence[ExposedEntity] = [
            one for one in self.home.entities if one.entity_id in self._opposed
        ]
        meant = meant or await self._async_fitting()
        if times_in(self.request.text, self.request.language):
            return ()
        if self._unknown_place():
            return ()
        # A number is a measure, unless a name has it.
        numbers = {word for word in self._words if word.isdecimal()}
        if numbers.difference(*(self._words_for(one) for one in meant)):
            return ()
        meant = [one for one in meant if not await self._async_is_about_other(one)]
        if len(meant) == 1 or self.is_about_all:
            return meant
        return ()

    async def _async_is_about_other(
        self,
        one: ExposedEntity,
    ) -> bool:
        """Return whether the words hold others than those of an entity, its room and its kind, that may name things."""
        if one.entity_id in self._opposed or is_named_in(
            self.hass, one.entity_id, self._words
        ):
            return False
        if await async_unexplained(self.hass, self.request.text, self.request.language):
            return True
        kind = entity_kinds(self.hass, [one.entity_id])[one.entity_id]
        of_kind = (await self._async_names_of([kind]))[kind]
        names = [name for other in self.home.all_entities for name in other.names]
        names += _names_of(self.home.rooms)
        return not self.request.words_of(names) <= self._words_for(
            one
        ) | self.request.words_of(of_kind)

    def _is_left(self, one: ExposedEntity) -> bool:
        """Return whether an entity is not as the words want it."""
        state = self.hass.states.get(one.entity_id)
        return state is not None and state.state not in _states_of(
            "fulfilled", self._wanted
        )

    def _call_for(self, one: ExposedEntity) -> ToolCall | None:
        """Return the call by which an entity does what the words want; None if that is not one call."""
        calls = _TABLES["calls"]
        able = self._wanted & {*_TABLES["can"].get(one.domain, ()), "pause"}
        ways = [
            calls.get(
                f"{one.domain}.{wish}",
                calls.get(wish),
            )
            for wish in self._wanted
            if wish in able
        ]
        if not ways or able != self._wanted:
            return None
        way = ways[0]
        tool = way and find_tool(way[0], self.tools)
        if not way or not tool or any(other != way for other in ways):
            return None
        return local_call(
            tool.name, {"name": one.entity_id, **dict(batched(way[1:], 2, strict=True))}
        )

    async def _async_fitting(self) -> Sequence[ExposedEntity]:
        if self._fitting is None:
            self._fitting = await self._async_find_fitting()
        return self._fitting

    async def _async_find_fitting(self) -> Sequence[ExposedEntity]:
        text = self.request.text
        language = self.request.language
        if not self._wanted or may_except(text, language):
            return ()
        if text.rstrip().endswith(QUESTION_ENDS):
            return ()
        places, of_places = self._named_places()
        able = [one for one in self.home.entities if self._is_able(one, places)]
        named = self._named()
        # A name of what cannot be asked for this way, such as a script, counts for nothing.
        if any(one in able or one.domain in _TABLES["can"] for one in named):
            return [one for one in able if one in named]
        led_to = await self._async_led_to(of_places)
        return [one for one in able if one.entity_id in led_to]

    def _named(self) -> Sequence[ExposedEntity]:
        return [
            one
            for one in self.home.all_entities
            if is_named_in(
                self.hass,
                one.entity_id,
                self._words,
            )
        ]

    async def _async_led_to(self, of_places: AbstractSet[str]) -> AbstractSet[str]:
        """Return what the words lead to by a word of its name or by its kind, or by a wish that only sound fulfils."""
        ids = [one.entity_id for one in self.home.entities]
        led_to = {*await self._of_named_kind(ids, in_any_form=True)}
        for some in batched(self.home.entities, _AT_ONCE, strict=False):
            await asyncio.sleep(0)
            led_to |= {
                one.entity_id
                for one in some
                if self.request.words_of(one.names) - of_places
            }
        loud = {one for one in ids if one.startswith(_LOUD)}
        is_sound = not self._wanted.isdisjoint(_SOUND) and led_to <= loud
        return loud if is_sound else led_to

    def _is_able(
        self,
        one: ExposedEntity,
        areas: AbstractSet[str],
    ) -> bool:
        """Return whether an entity can do what the words want, and is in one of some areas, if there are any."""
        if areas and one.area_id not in areas:
            return False
        can = _TABLES["can"].get(
            one.domain,
            (),
        )
        is_there = self.hass.states.get(one.entity_id) is not None
        return bool(one.names) and is_there and not self._wanted.isdisjoint(can)

    def _named_places(self) -> tuple[AbstractSet[str], AbstractSet[str]]:
        """Return the areas that the words name, or those on the floors that they name, and the words that do."""
        rooms = [
            room for room in self.home.rooms if self.request.has_word_of(*room.names)
        ]
        floors = self._named_floors()
        areas = _areas_of(self.home, rooms or floors)
        return areas, self.request.words_of(_names_of((*rooms, *floors)))

    async def async_is_left_undone(self) -> bool:
        """Return whether something is not as a plain command wants it; of several that it may mean, none is."""
        states = [
            state.state
            for one in await self._async_fitting()
            if (state := self.hass.states.get(one.entity_id))
        ]
        wanted = _states_of("fulfilled", self._wanted)
        return (
            bool(states)
            and not wanted.issuperset(states)
            and (self.is_about_all or wanted.isdisjoint(states))
        )

    async def _opposite(
        self,
        done: AbstractSet[str],
        effects: Effects,
    ) -> str:
        """Return what the words want where a call does the opposite; empty if it does not."""
        wanted = self._wanted
        if self._agrees(done, wanted) or may_except(
            self.request.text, self.request.language
        ):
            return ""
        opposite = next(
            (
                one
                for one in sorted(wanted)
                if not done.isdisjoint(_TABLES["opposites"][one])
            ),
            "",
        )
        if not opposite or len(self._words) <= _SHORT:
            return opposite
        targets = effects.entity_ids
        is_named = any(
            self._words_for(one)
            for one in self.home.all_entities
            if one.entity_id in targets
        )
        if is_named or await self._of_named_kind(targets, _VERBS):
            return opposite
        return ""

    @staticmethod
    def _agrees(
        done: AbstractSet[str],
        wanted: AbstractSet[str],
    ) -> bool:
        return any(
            not wanted.isdisjoint(_TABLES["agreeing"].get(one, (one,))) for one in done
        )

    def _words_for(
        self,
        one: ExposedEntity,
    ) -> frozenset[str]:
        """Return the words of the request that are words of an entity or its room."""
        return self.request.words_of((*one.names, *_room(self.home, one.area_id)))

    async def _which_ones(
        self,
        arguments: JsonObject,
        done: AbstractSet[str],
        effects: Effects,
    ) -> tuple[Sequence[ExposedEntity], bool]:
        """Return what the words may mean as well as what a model chose, one of them, and whether they lead to another.

        Nothing is returned if the call is right.
        """
        chosen = self._chosen_by_name(
            arguments,
            done,
            effects,
        )
        if chosen is None or self.is_about_all:
            return (), False
        rivals = self._rivals(
            chosen,
            done,
        )
        led_to = [one.entity for one in rivals if one.is_led_to]
        if not led_to and self._is_only_one(chosen, rivals):
            return (), False
        if not await self._is_open(chosen, rivals, is_led=bool(led_to)):
            return (), False
        others = led_to or self._useful(chosen, rivals)
        return [chosen, *(one for one in others if one is not chosen)], bool(led_to)

    @staticmethod
    def _useful(
        chosen: ExposedEntity, rivals: Sequence[_Rival]
    ) -> Sequence[ExposedEntity]:
        """Return the things that a call would change; only those near the person if the choice is one of these."""
        is_here = any(one.is_near for one in rivals if one.entity is chosen)
        return [
            one.entity for one in rivals if one.is_useful and one.is_near >= is_here
        ]

    async def _is_open(
        self,
        chosen: ExposedEntity,
        rivals: Sequence[_Rival],
        *,
        is_led: bool,
    ) -> bool:
        """Return whether the words name a rival or what all have in common. A room leads to all that is in it."""
        if any(has_name_in(self._words, one.entity.names) for one in rivals):
            return True
        if not is_led and self.request.has_word_of(*_room(self.home, chosen.area_id)):
            return False
        shared = set[str].intersection(
            *({*heard_words(" ".join(one.entity.names))} for one in rivals)
        )
        if not shared.isdisjoint(self._words):
            return True
        return bool(await self._of_named_kind([chosen.entity_id], _VERBS))

    def _chosen_by_name(
        self,
        arguments: JsonObject,
        done: AbstractSet[str],
        effects: Effects,
    ) -> ExposedEntity | None:
        """Return the one thing that a model named for what the words want; None if the words need not lead to it."""
        targets = effects.entity_ids
        if len(targets) != 1 or not isinstance(arguments.get("name"), str):
            return None
        chosen = next(
            (one for one in self.home.all_entities if one.entity_id in targets), None
        )
        if chosen is None or chosen.domain in _UNCHOSEN:
            return None
        if chosen.domain != TODO and not self._agrees(done, self._wanted):
            return None
        return chosen

    def _rivals(
        self,
        chosen: ExposedEntity,
        done: AbstractSet[str],
    ) -> Sequence[_Rival]:
        """Return the things of its kind to which the words lead as much as to it; none if they name it.

        Words that lead to another one outweigh the room of the person, and, if they say
        its name, what needs doing.
        """
        of_domain = [
            one for one in self.home.all_entities if one.domain == chosen.domain
        ]
        kinds = entity_kinds(self.hass, [one.entity_id for one in of_domain])
        kind = kinds[chosen.entity_id]
        alike = [one for one in of_domain if kinds[one.entity_id] == kind]
        if self._is_named(chosen.entity_id, alike):
            return ()
        reached = _states_of("reached", done)
        of_chosen = self._words_for(chosen)
        rivals = list[_Rival]()
        for one in alike:
            if one is not chosen and one.entity_id in self._taken:
                continue
            words = self._words_for(one)
            if not words >= of_chosen:
                continue
            state = self.hass.states.get(one.entity_id)
            now = state.state if state else STATE_UNAVAILABLE
            is_called = now not in reached or self._is_called(one.names)
            rivals.append(
                _Rival(
                    one,
                    is_near=one.area_id is not None
                    and one.area_id == self.request.area_id,
                    is_useful=now not in {STATE_UNAVAILABLE, *reached},
                    is_led_to=words > of_chosen and is_called,
                )
            )
        return rivals

    @staticmethod
    def _is_only_one(
        chosen: ExposedEntity,
        rivals: Sequence[_Rival],
    ) -> bool:
        """Return whether a choice is the only one that fits, near the person, or that needs it; or none does."""
        useful = [one.entity for one in rivals if one.is_useful]
        near = [one.entity for one in rivals if one.is_near]
        each = [one.entity for one in rivals]
        return not useful or [chosen] in (useful, near, each)

    async def _option(
        self,
        one: ExposedEntity,
        arguments: JsonObject,
        first: CallReview,
        review_of: _ReviewOf,
    ) -> CallReview | None:
        """Review the same call as `first` for one of several things; None if no name makes it act on this one alone."""
        if first.entity_ids == {one.entity_id}:
            return first
        wanted = frozenset(
            action._replace(entity_id=one.entity_id) for action in first.effects.actions
        )
        beside = {
            name: value for name, value in arguments.items() if name not in SELECTING
        }
        rooms = _room(self.home, one.area_id)[:1]
        for place in ({}, *({"area": room} for room in rooms)):
            review = await review_of({**beside, "name": one.names[0], **place})
            if review.effects.is_known and review.effects.actions == wanted:
                return review
        return None

    def _is_called(self, names: Iterable[str]) -> bool:
        """Return whether the words hold all telling words of one of some names, in any order."""
        return any(
            all(map(self._holds, words))
            for name in names
            if (words := telling_words(name))
        )

    def _holds(self, form: str) -> bool:
        """Return whether the words hold a word, or a form of it that is not much shorter: "down" is no "downstairs"."""
        return any(
            len(form) - len(word) < _ENDING for word in self.request.words_of((form,))
        )

    def _unknown_place(self) -> str:
        """Return what the words name as a place where the home knows none of them; empty if it does."""
        places = self.request.places
        if words_alike(places, telling_words(*self.home.all_names)):
            return ""
        return " ".join(sorted(places))

    def _is_named(
        self,
        entity_id: str,
        alike: Sequence[ExposedEntity],
    ) -> bool:
        """Return whether the words of this turn name an entity, or the last ones before that name one of its kind."""
        if is_named_in(self.hass, entity_id, self._words):
            return True
        for words in map(heard_words, reversed(self.earlier)):
            named = [one.entity_id for one in alike if has_name_in(words, one.names)]
            if named:
                return entity_id in named
        return False

    def _names(
        self,
        kind: str,
        *,
        in_any_form: bool,
    ) -> bool:
        words = heard_words(kind)
        is_form = in_any_form and all(
            words_alike(self._words, (word,)) for word in words
        )
        return is_form or contains_phrase(self._words, words)

    async def _of_named_kind(
        self,
        entity_ids: Collection[str],
        leave_out: AbstractSet[str] = frozenset(),
        *,
        in_any_form: bool = False,
    ) -> AbstractSet[str]:
        """Return the entities whose kind the words name, as for one of it: "the light"; some domains are left out.

        With `in_any_form`, as for several: "the lights".
        """
        counted = [one for one in entity_ids if one.partition(".")[0] not in leave_out]
        kinds = entity_kinds(self.hass, counted)
        names = await self._async_names_of(kinds.values())
        named = {
            kind
            for kind, ways in names.items()
            if any(self._names(one, in_any_form=in_any_form) for one in ways)
        }
        of_words = [
            kind
            for kind in await self._async_kinds_in_words()
            if in_any_form or not kind.is_plural
        ]
        as_known = {
            one: KnownEntity(
                one,
                kind[0],
                (),
                kind[1],
                None,
            )
            for one, kind in kinds.items()
        }
        return {
            one
            for one, kind in kinds.items()
            if kind in named or any(each.has(as_known[one]) for each in of_words)
        }

    async def _async_names_of(
        self, kinds: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Collection[str]]:
        languages = (self.request.language, self.hass.config.language)
        return await async_kind_names(
            self.hass,
            languages,
            kinds,
        )

    async def _async_kinds_in_words(self) -> Sequence[EntityKind]:
        """Return the kinds that are words of the request, as the language is read: "the water", "the list"."""
        words = await self.hass.async_add_executor_job(
            lexicon,
            self.request.language,
        )
        heard = tokens_of_phrase(self.request.text[-MOST_COMPARED:])
        if words is None:
            return ()
        found = (
            one
            for at in range(len(heard))
            for _, one in words.phrases.found(
                heard,
                at,
            )
        )
        kinds = {
            **KINDS,
            "list": EntityKind(frozenset({TODO})),
            "lists": EntityKind(
                frozenset({TODO}),
                is_plural=True,
            ),
        }
        return [
            kinds[one.value]
            for one in found
            if one.role is Role.KIND and one.value in kinds
        ]


def _first_names(entities: Sequence[ExposedEntity]) -> str:
    return listed([one.names[0] for one in entities if one.names][:_MOST_NAMED])


def _room(
    home: Home,
    area_id: str | None,
) -> tuple[str, ...]:
    """Return the name of a room and its aliases; nothing without a room."""
    return next(
        (room.names for room in home.rooms if room.area_id == area_id),
        (),
    )


def _states_of(
    table: str,
    acts: Iterable[str],
) -> frozenset[str]:
    """Return the states that some acts lead to, by a table."""
    return frozenset(state for act in acts for state in _TABLES[table].get(act, ()))


def _names_of(places: Iterable[HomePlace]) -> list[str]:
    """Return the names of some rooms or floors, and their aliases."""
    return [name for place in places for name in place.names]


def _areas_of(
    home: Home,
    places: Sequence[HomePlace],
) -> frozenset[str]:
    """Return the areas that are some rooms, or that are on some floors."""
    floors = {one.floor_id for one in places if isinstance(one, Floor)}
    return frozenset(
        room.area_id for room in home.rooms if room in places or room.floor_id in floors
    )


def _all_done(
    tool: str,
    arguments: JsonObject,
    effects: Effects,
) -> frozenset[str]:
    """Return what a call does, as the words have it."""
    by_action = (word for one in effects.actions if (word := _done(one, arguments)))
    return frozenset(_by_tool(tool, arguments)) or frozenset(by_action)


def _by_tool(
    tool: str,
    arguments: JsonObject,
) -> Iterator[str]:
    """Yield what is done by a tool whose actions do not tell it."""
    name = tool.rpartition("__")[2]
    yield from _TABLES["tools"].get(name, ())
    if name == "HassSetVolumeRelative":
        step = str(arguments.get("volume_step", ""))
        yield "quieter" if fold(step).startswith(("-", "down")) else "louder"


def _done(action: EntityAction, arguments: JsonObject) -> str:
    """Return what an action does, as the words have it; empty for others."""
    domain, _, service = action.action.partition(".")
    if (
        domain not in _UNCHOSEN
        and service in {"turn_on", "turn_off"}
        and arguments.keys() <= SELECTING
    ):
        return service.removeprefix("turn_")
    if action.action in _MOVED and arguments.get("position") == _WHOLLY_OPEN:
        return "open"
    level = arguments.get(_LEVELS.get(action.action, ""))
    if level is not None:
        return "on" if level else "off"
    return _DONE.get(action.action, "")
