"""Understands commands for the entities of a home: what is to be done, with which of them, and how far.

The rules know roles, not languages. Things that are named have to exist, where they are
said to be, and be able to do it; where several fit and one is meant, the request is a
choice between these.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from .lexicon import SLIGHTLY, Lexicon, Role
from .reading import Parts, PhraseSpan, Reading
from .vocabulary import HomeVocabulary, KnownEntity

if TYPE_CHECKING:
    from .questions import WorldQuestion


@dataclass(frozen=True, slots=True)
class EntityCommand:
    """Something to do with entities of the home."""

    act: str
    ids: frozenset[str] = frozenset()
    """Entity ids."""
    amount: float | None = None
    unit: str = ""
    colour: str = ""
    aspect: str = ""
    is_by: bool = False
    """Whether the amount is a difference: "two degrees warmer"."""
    is_elliptic: bool = False
    """Whether it names nothing: "louder", "turn it off"."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A command that several entities fit, one of which is meant."""

    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A request that lacks something."""

    lacks: str
    """`value` or `item`."""
    sentence: str = ""
    """The sentence with `…` in the place of what it lacks; empty if an answer may follow it."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """Words of a command for what is not at home, or not there."""

    text: str
    alike: tuple[str, ...] = ()
    """Names of things of its kind."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a sentence was said, and what it may refer to."""

    area_id: str | None = None
    playing: frozenset[str] = frozenset()
    """Players that are playing, or else those that are on."""
    last: frozenset[str] = frozenset()
    """The entities of the request before."""
    before: EntityCommand | WorldQuestion | None = None
    """The request before."""

    @property
    def command(self) -> EntityCommand | None:
        """Return the request before, if it is a command."""
        return self.before if isinstance(self.before, EntityCommand) else None


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A kind of entities."""

    domains: frozenset[str]
    device_classes: frozenset[str] = frozenset()
    """Empty for any. Locks have none."""
    is_plural: bool = False

    def has(self, entity: KnownEntity) -> bool:
        """Return whether an entity is of this kind."""
        if entity.domain not in self.domains:
            return False
        return (
            not self.device_classes
            or entity.domain == "lock"
            or entity.device_class in self.device_classes
        )


def _kind(domains: str, classes: str = "", *, plural: bool = False) -> EntityKind:
    return EntityKind(frozenset(domains.split()), frozenset(classes.split()), plural)


_SHADES: Final = "blind shade shutter curtain awning"
_ON_OFF: Final = frozenset(
    {
        *("light", "switch", "fan", "media_player", "climate", "humidifier"),
        *("input_boolean", "siren", "water_heater", "remote"),
    }
)
KINDS: Final[Mapping[str, EntityKind]] = {
    "light": _kind("light"),
    "lights": _kind("light", plural=True),
    "fan": _kind("fan"),
    "fans": _kind("fan", plural=True),
    "plug": _kind("switch", "outlet"),
    "plugs": _kind("switch", "outlet", plural=True),
    "cover": _kind("cover", _SHADES),
    "covers": _kind("cover", _SHADES, plural=True),
    "garage": _kind("cover", "garage"),
    "garages": _kind("cover", "garage", plural=True),
    "door": _kind("cover lock", "door"),
    "doors": _kind("cover lock", "door", plural=True),
    "window": _kind("cover", "window"),
    "windows": _kind("cover", "window", plural=True),
    "lock": _kind("lock"),
    "locks": _kind("lock", plural=True),
    "thermostat": _kind("climate"),
    "thermostats": _kind("climate", plural=True),
    "player": _kind("media_player"),
    "music": _kind("media_player"),
    "radio": _kind("media_player"),
    "players": _kind("media_player", plural=True),
    "tv": _kind("media_player", "tv"),
    "tvs": _kind("media_player", "tv", plural=True),
    "vacuum": _kind("vacuum"),
    "mower": _kind("lawn_mower"),
    "valve": _kind("valve"),
    "valves": _kind("valve", plural=True),
    "scene": _kind("scene"),
    "everything": EntityKind(_ON_OFF, is_plural=True),
}
"""Kinds of entities to control, by the values of the lexicon. Others, such as lists and alarms, are none."""
_LIGHT: Final = frozenset({"light"})
_PLAYER: Final = frozenset({"media_player"})
_SOUNDS: Final = frozenset({"music", "radio"})
"""Kinds that mean what a player plays."""
_ROBOTS: Final = frozenset({"vacuum", "lawn_mower"})
_ACTS_ON: Final[Mapping[str, frozenset[str]]] = {
    "on": _ON_OFF | {"vacuum", "valve", "scene", "script"},
    "off": _ON_OFF | {"vacuum", "valve"},
    "brew": frozenset({"switch"}),
    "open": frozenset({"cover", "valve"}),
    "close": frozenset({"cover", "valve"}),
    "lock": frozenset({"lock"}),
    "unlock": frozenset({"lock"}),
    "brighter": _LIGHT,
    "darker": _LIGHT,
    "warmer": frozenset({"climate"}),
    "cooler": frozenset({"climate"}),
    "more": frozenset({"light", "media_player", "climate", "fan"}),
    "less": frozenset({"light", "media_player", "climate", "fan"}),
    "set": frozenset({"light", "climate", "cover", "valve", "fan", "media_player"}),
    "start": _ROBOTS | {"switch", "scene", "script"},
    "clean": frozenset({"vacuum"}),
    "stop": _PLAYER,
    "pause": _PLAYER,
    "resume": _PLAYER,
    "dock": _ROBOTS,
    **dict.fromkeys(
        ("louder", "quieter", "next", "previous", "mute", "unmute"), _PLAYER
    ),
}
"""The domains that an act is for."""
_VAGUE_ACTS: Final = frozenset({"turn", "change"})
PLAIN_ACTS: Final = _ACTS_ON.keys() - {"brew", "set", "start"}
"""Acts whose words mean nothing else."""
_BY_ASPECT: Final[Mapping[str, frozenset[str]]] = {
    "brightness": _LIGHT,
    "colour": _LIGHT,
    "volume": _PLAYER,
    "temperature": frozenset({"climate"}),
    "speed": frozenset({"fan"}),
    "position": frozenset({"cover", "valve"}),
}
_BY_UNIT: Final[Mapping[str, frozenset[str]]] = {
    "degrees": frozenset({"climate"}),
    "percent": frozenset({"light", "cover", "valve", "fan", "media_player"}),
    "kelvin": _LIGHT,
    "": frozenset({"light", "climate", "media_player"}),
}
_OPPOSITES: Final = {
    "brighter": "darker",
    "louder": "quieter",
    "warmer": "cooler",
    "more": "less",
}
_OPPOSITES_OF_STEPS: Final = _OPPOSITES | {
    less: more for more, less in _OPPOSITES.items()
}
_STEPS: Final = _OPPOSITES_OF_STEPS.keys()
_ALONE: Final = frozenset({"warmer", "cooler", "more", "less", "set", "dock", "clean"})
"""Acts that tell by themselves for what they are, as far as there is only one in the room, or at home."""
PASSIVE: Final = frozenset({"binary_sensor", "event", "sensor", "update", "weather"})
_ROLES: Final = frozenset(
    {
        *(
            Role.FILLER,
            Role.PREPOSITION,
            Role.AND,
            Role.ACT,
            Role.VERB,
            Role.PARTICLE,
            Role.ENTITY,
            Role.PLACE,
        ),
        *(
            Role.KIND,
            Role.ASPECT,
            Role.AMOUNT,
            Role.LEVEL,
            Role.COLOUR,
            Role.QUANTIFIER,
            Role.PRONOUN,
            Role.STATE,
        ),
    }
)
_NAMING: Final = frozenset({Role.ENTITY, Role.PLACE, Role.KIND})
_OF_NAMES: Final = _NAMING | {Role.QUANTIFIER, Role.FILLER, Role.PREPOSITION, Role.AND}
_TELLING: Final = (Role.ENTITY, Role.KIND, Role.ASPECT, Role.PRONOUN)
"""The roles of words that tell by themselves what a request is about."""
_SETTABLE: Final = frozenset(
    {"brightness", "colour", "position", "temperature", "volume"}
)
_VALUES: Final = (Role.AMOUNT, Role.LEVEL, Role.COLOUR)
_OPENING: Final = {"open": "close", "close": "open"}
"""Acts on covers and valves, with their opposites."""
_STEPPING: Final = frozenset({Role.ACT, Role.FILLER})
"""The roles of "a bit more", which names nothing."""
_SLIGHT: Final = 20.0
"""Percent by which covers and valves move a little."""
_TWO: Final = 2
_ALL: Final = 100
"""The most percent."""


def commands(
    parts: Parts,
    reading: Reading,
    words: Lexicon,
    names: HomeVocabulary,
    surroundings: Surroundings,
) -> Sequence[EntityCommand | Choice | OpenQuestion | UnknownName] | None:
    """Return what the words of one act ask for, a command for each group of entities; None if they ask for nothing.

    If a group means nothing, it is all that is returned.
    """
    verbs = parts.acts(words)
    is_away = "from" in parts.values(Role.PREPOSITION)
    is_explained = (
        _ROLES.issuperset(parts.by_role)
        and not is_away
        and set(parts.values(Role.KIND)) <= KINDS.keys()
    )
    following = [*(span.role for span in parts.spans[1:]), Role.AND]
    is_cut = (Role.PREPOSITION, Role.AND) in zip(
        (span.role for span in parts.spans), following, strict=True
    )
    if not is_explained or (verbs and parts.all(Role.STATE)) or is_cut:
        return None
    acts = ["set" if verb == "change" else verb for verb in verbs] or [
        _act_without_verb(parts, names)
    ]
    if sounds := _SOUNDS & {*parts.values(Role.KIND)}:
        acts = [
            {"on": "resume" if "music" in sounds else "", "off": "pause"}.get(act, act)
            for act in acts
        ]
    command = surroundings.command
    if (
        command
        and command.is_by
        and command.act in _OPENING
        and _STEPPING.issuperset(parts.by_role)
    ):
        again = {"more": command.act, "less": _OPENING[command.act]}
        return [
            replace(command, act=again[act], is_elliptic=True)
            for act in acts
            if act in again
        ][:1] or None
    if (
        command
        and command.act in _STEPS
        and not any(parts.all(role) for role in _TELLING)
    ):
        again = {"more": command.act, "less": _OPPOSITES_OF_STEPS[command.act]}
        acts = [again.get(act, act) for act in acts]
    found = [
        one
        for act in acts
        if (one := _commands(act, parts, reading, names, surroundings))
    ]
    return min(found, key=lambda one: isinstance(one[0], UnknownName), default=None)


def _commands(
    act: str,
    parts: Parts,
    reading: Reading,
    names: HomeVocabulary,
    surroundings: Surroundings,
) -> Sequence[EntityCommand | Choice | OpenQuestion | UnknownName] | None:
    """Return the commands of an act; None if it is not for what the words name."""
    if not act or (command := _with_value(act, parts)) is None:
        return None
    domains, found = (
        _domains(command) & _ACTS_ON.get(act, frozenset()),
        list[EntityCommand | Choice](),
    )
    lacks_value = command.act == "set" and command.amount is None and not command.colour
    groups = [*_groups(parts.spans)]
    while groups:
        group = groups.pop(0)
        named_at = [
            at for at, span in enumerate(group) if span.role in {Role.ENTITY, Role.KIND}
        ]
        joins = [
            at
            for at, span in enumerate(group)
            if named_at and at > named_at[-1] and span.role is Role.AND
        ]
        match _Targets(Parts(group), command.act, domains, names, surroundings).found():
            case None if (
                joins
            ):  # "the curtains and the garage" are no curtains of the garage
                groups = [group[: joins[0]], group[joins[0] :], *groups]
            case None:
                named = [span for span in group if span.role in _NAMING]
                is_there = _Targets(
                    Parts(group), command.act, _every_domain(names), names, surroundings
                ).found()
                is_here = any(
                    span.value == "here"
                    for span in group
                    if span.role is Role.QUANTIFIER
                )
                if (
                    is_there
                    or is_here
                    or all(span.role is Role.PLACE for span in named)
                ):
                    return None
                return [UnknownName(reading.text(named[0].start, named[-1].end))]
            case Choice() as choice:
                found.append(choice)
            case ids:
                is_elliptic = not any(span.role in _NAMING for span in group)
                found.append(replace(command, ids=ids, is_elliptic=is_elliptic))
    return [OpenQuestion("value")] if lacks_value else found


def following_commands(
    parts: Parts, reading: Reading, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[EntityCommand | Choice]:
    """Return the command before, for what is named after it: "and the kitchen"; empty if there are more words."""
    command, is_joined = (
        surroundings.command,
        any(span.role is Role.AND for span in reading.spans),
    )
    if command is None or not (is_joined and _OF_NAMES.issuperset(parts.by_role)):
        return ()
    is_named = parts.all(Role.ENTITY) or parts.all(Role.KIND)
    domains = _domains(command) if is_named else names.domains(command.ids)
    found = _Targets(parts, command.act, domains, names, surroundings).found()
    if isinstance(found, Choice):
        return (found,)
    return (replace(command, ids=found),) if found else ()


def may_mean(parts: Parts, words: Lexicon, domains: AbstractSet[str]) -> bool:
    """Return whether the words of a request may be for entities of some domains.

    A place alone does not tell: "ouvre le garage" is not about its light, and "the
    bedroom to 20" may be anything.
    """
    is_named = any(parts.all(role) for role in _TELLING)
    possible = [
        _ACTS_ON.get(one, domains if one in _VAGUE_ACTS else frozenset())
        for one in parts.acts(words)
    ]
    is_bare = any(not span.value for span in parts.all(Role.AMOUNT)) and all(
        len(one) > 1 for one in possible
    )
    return is_named or not (
        is_bare or (possible and all(map(domains.isdisjoint, possible)))
    )


def _act_without_verb(parts: Parts, names: HomeVocabulary) -> str:
    """Return what is to be done where no verb tells: "desk lamp off", "movie night"; empty if nothing does."""
    if any(parts.all(role) for role in (Role.ACT, Role.VERB, Role.PARTICLE)):
        return ""
    named = [span.named for span in parts.spans if span.named and span.named.is_whole]
    if len(named) == len(parts.spans) and all(
        names.domains(one.ids) == {"scene"} for one in named
    ):
        return "on"
    states = [value for value in parts.values(Role.STATE) if value in {"on", "off"}]
    if any(parts.all(role) for role in _VALUES):
        return "" if parts.all(Role.STATE) else "set"
    telling = [span.role for span in parts.spans if span.role is not Role.FILLER]
    is_outside = Role.STATE in telling[:1] + telling[-1:]
    return (
        states[0] if states and len(parts.all(Role.STATE)) == 1 and is_outside else ""
    )


def _groups(spans: Sequence[PhraseSpan]) -> Iterator[Sequence[PhraseSpan]]:
    """Yield the spans of each group of entities: a room alone goes with the group before it, or else after it.

    A joining word stays between rooms.
    """
    groups: list[list[PhraseSpan]] = [[]]
    for span in spans:
        if span.role is Role.AND:
            groups.append([])
        groups[-1].append(span)
    waiting: list[PhraseSpan] = []
    whole: list[list[PhraseSpan]] = []
    for group in groups:
        if any(span.role in {Role.ENTITY, Role.KIND, Role.PRONOUN} for span in group):
            whole.append([*waiting, *group])
            waiting = []
        elif whole:
            whole[-1] += group
        else:
            waiting += group
    yield from whole or [waiting]


def _with_value(act: str, parts: Parts) -> EntityCommand | None:
    """Return a command with its value; None if it lacks one, or has one too many."""
    values, aspects = (
        [span for role in _VALUES for span in parts.all(role)],
        parts.values(Role.ASPECT),
    )
    if len(values) > 1 or len(aspects) > 1:
        return None
    command = EntityCommand(act, aspect=aspects[0] if aspects else "")
    if not values:
        if act in _OPENING and SLIGHTLY in parts.values(Role.FILLER):
            return replace(command, amount=_SLIGHT, unit="percent", is_by=True)
        is_set = act == "set" and command.aspect in _SETTABLE
        return (
            command
            if is_set or act in _STEPS or not (aspects or act == "set")
            else None
        )
    before = next(
        (
            one.value
            for one in parts.all(Role.PREPOSITION)
            if one.end == values[0].start
        ),
        "",
    )
    after = [one for one in parts.spans if one.start > values[0].start]
    following = [one.role for one in after if one.role in {Role.KIND, Role.PREPOSITION}]
    is_part = before not in {"to", "at", "by"} and values[0].value != "100"
    if is_part and following[:1] == [Role.KIND]:
        return None  # "half the lights" are some of them
    match values[0].role:
        case Role.AMOUNT:
            is_by = before not in {"to", "at"} and act in _STEPS
            is_measured = (
                bool(values[0].value)
                or before == "to"
                or (bool(aspects) and (before == "by" or not is_by))
            )
            if (before == "by" and not is_by) or not is_measured:
                return None  # "the 4 lamp" is a lamp, "at 4" is a time
            command = replace(
                command, amount=values[0].number, unit=values[0].value, is_by=is_by
            )
        case Role.LEVEL:
            command = replace(command, amount=float(values[0].value), unit="percent")
        case _:
            command = replace(command, colour=values[0].value)
    if act in _STEPS and not command.colour:
        return command
    if (
        act == "close"
        and values[0].value != "50"
        and (before != "to" or values[0].role is Role.LEVEL)
    ):
        return EntityCommand(act) if values[0].value == "100" else None
    is_set = act in {"set", "on", *_STEPS} or (act in _OPENING and not command.colour)
    return replace(command, act="set") if is_set else None


def _domains(command: EntityCommand) -> frozenset[str]:
    """Return the domains that a command may be for."""
    domains = _ACTS_ON.get(command.act, frozenset())
    if command.aspect:
        domains &= _BY_ASPECT.get(command.aspect, frozenset())
    if command.colour:
        domains &= _LIGHT
    if command.amount is not None:
        domains &= _BY_UNIT.get(command.unit, frozenset())
        if command.amount > _ALL and command.unit in {"", "percent"}:
            domains -= _BY_UNIT["percent"]
    return domains


def places_of(
    spans: Iterable[PhraseSpan],
    quantifiers: Iterable[str],
    names: HomeVocabulary,
    surroundings: Surroundings,
) -> Sequence[frozenset[str | None]]:
    """Return the areas of each place that is named, without areas for one that is not known.

    "Upstairs and in the kitchen" are two places, "the bedroom upstairs" is one.
    """
    runs: list[list[frozenset[str | None]]] = [[]]
    for span in spans:
        if span.role is Role.AND:
            runs.append([])
        elif span.role is Role.PLACE:
            runs[-1].append(
                frozenset(span.named.ids if span.named else names.areas_of(span.value))
            )
    if "here" in quantifiers:
        runs[-1].append(frozenset({surroundings.area_id} - {None}))
    return [run[0].intersection(*run) for run in runs if run]


def _every_domain(names: HomeVocabulary) -> frozenset[str]:
    return frozenset(entity.domain for entity in names.entities)


@dataclass(frozen=True)
class _Targets:
    """The entities that one group of words means."""

    parts: Parts
    act: str
    domains: AbstractSet[str]
    names: HomeVocabulary
    surroundings: Surroundings

    def found(self) -> frozenset[str] | Choice | None:
        """Return the entities; None if the words mean none, and a choice if one of several is meant."""
        able = {
            entity.entity_id
            for entity in self.names.entities
            if entity.domain in self.domains
        }
        if "others" in self._quantifiers:
            kinds_of = {
                one: (self.names.by_id[one].domain, self.names.by_id[one].area_id)
                for one in able
            }
            alike = {kinds_of[one] for one in self.surroundings.last & able}
            return (
                frozenset(
                    one
                    for one in able - self.surroundings.last
                    if kinds_of[one] in alike
                )
                or None
            )
        if self.parts.all(Role.PRONOUN):
            return self._referred(able)
        if self._is_about_last and self.surroundings.last & able:
            return frozenset(self.surroundings.last & able)
        if places := places_of(
            self.parts.spans, self._quantifiers, self.names, self.surroundings
        ):
            able = {
                one
                for one in able
                if any(self.names.by_id[one].area_id in areas for areas in places)
            }
        kinds = [KINDS[value] for value in self.parts.values(Role.KIND)]
        if kinds:
            able = {
                one
                for one in able
                if all(kind.has(self.names.by_id[one]) for kind in kinds)
            }
        if self.parts.all(Role.ENTITY):
            found = self._named(able)
        else:
            of_words = self._of_kind if kinds else self._unnamed
            found = of_words(able, is_placed=bool(places))
        ids = found.ids if isinstance(found, Choice) else found or frozenset[str]()
        areas_found = {self.names.by_id[one].area_id for one in ids}
        return None if any(areas.isdisjoint(areas_found) for areas in places) else found

    @property
    def _is_about_last(self) -> bool:
        """Whether words that name nothing go on about the request before: "a bit more"."""
        is_unnamed = not any(
            self.parts.all(role) for role in (*_NAMING, Role.QUANTIFIER)
        )
        command = self.surroundings.command
        return (
            is_unnamed
            and command is not None
            and command.act != "off"
            and self.act in {*_STEPS, "set"}
        )

    @property
    def _quantifiers(self) -> frozenset[str]:
        return frozenset(self.parts.values(Role.QUANTIFIER))

    @property
    def _is_many(self) -> bool:
        kinds = (KINDS[value] for value in self.parts.values(Role.KIND))
        return any(kind.is_plural for kind in kinds) or bool(
            self._quantifiers & {"all", "both"}
        )

    def _referred(self, able: AbstractSet[str]) -> frozenset[str] | None:
        """Return what "it" or "them" means, if nothing else is named: those of the request before that can do it."""
        is_alone = not any(
            self.parts.all(role) for role in (Role.ENTITY, Role.KIND, Role.PLACE)
        )
        return (self.surroundings.last & able or None) if is_alone else None

    def _named(self, able: AbstractSet[str]) -> frozenset[str] | Choice | None:
        """Return the entity that the names mean together.

        A part of a name means none where another thing has it: "raise the desk" is not
        about the desk lamp.
        """
        named = [span.named for span in self.parts.all(Role.ENTITY) if span.named]
        meant = frozenset(self.names.by_id).intersection(*(one.ids for one in named))
        others = {
            domain
            for one in meant
            if (domain := self.names.by_id[one].domain) not in self.domains
        }
        if others - PASSIVE and not any(one.is_whole for one in named):
            return None
        ids = meant & able
        ids = self._near(ids) or ids
        if any(
            span.named and span.named.is_kind for span in self.parts.all(Role.ENTITY)
        ) and not self._near(ids):
            narrow = (kind for value, kind in KINDS.items() if value != "everything")
            kinds = [
                kind
                for kind in narrow
                if any(kind.has(self.names.by_id[one]) for one in ids)
            ]
            ids |= self._near(
                one
                for one in able
                if any(kind.has(self.names.by_id[one]) for kind in kinds)
            )
        if len(ids) > 1:
            return Choice(ids)
        return ids or None

    def _of_kind(
        self, able: AbstractSet[str], *, is_placed: bool
    ) -> frozenset[str] | Choice | None:
        """Return the entities of a kind: of the place that is named, else of the room, else the only one at home."""
        is_roomless = self._is_many and self.surroundings.area_id is None
        is_everywhere = (
            is_placed or is_roomless or bool(self._quantifiers & {"all", "home"})
        )
        near = frozenset() if is_everywhere else self._near(able)
        found = near or frozenset(able)
        if not self._is_many:
            found = found & self.surroundings.playing or found
        if len(found) <= 1:
            return found or None
        is_both = "both" in self._quantifiers
        is_number_right = not is_both or len(found) == _TWO
        is_placed = is_everywhere or bool(near) or is_both
        is_light = all(self.names.by_id[one].domain == "light" for one in found)
        is_certain = (self._is_many and is_placed) or (
            is_light and (self._is_many or is_placed)
        )
        return found if is_certain and is_number_right else Choice(found)

    def _unnamed(
        self, able: AbstractSet[str], *, is_placed: bool
    ) -> frozenset[str] | Choice | None:
        """Return what an act is for that names only a place, or nothing."""
        found: AbstractSet[str]
        if self.domains == _PLAYER | (_ROBOTS & self.domains) and self.act not in {
            "on",
            "off",
        }:
            able = {
                one for one in able if self.names.by_id[one].domain == "media_player"
            }
            playing = able & self.surroundings.playing
            found = self._near(playing) or playing or self._near(able) or able
        elif is_placed and "light" in self.domains:
            is_mixed = self.act not in {"on", "off"} and any(
                self.names.by_id[one].domain == "climate" for one in able
            )
            lights = frozenset(
                one for one in able if self.names.by_id[one].domain == "light"
            )
            return None if is_mixed else lights or None
        elif self.domains == _LIGHT:
            return self._near(able) or None  # "brighter"
        elif is_placed:
            # "clean the kitchen" is no order for coffee
            is_vague = self.act in {"brew", "start"} or self.domains == _ACTS_ON["open"]
            found = {
                one
                for one in able
                if not is_vague or KINDS["garage"].has(self.names.by_id[one])
            }
        elif self.act in {"brighter", "darker"}:
            return self._near(able) or None
        else:
            found = (self._near(able) or able) if self.act in _ALONE else frozenset()
        if len(found) > 1 and self.act in {"warmer", "cooler"}:
            return Choice(frozenset(found))
        return frozenset(found) if len(found) == 1 else None

    def _near(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of some entities that are in the room of the speaker."""
        area = self.surroundings.area_id
        return frozenset(
            one for one in ids if area and self.names.by_id[one].area_id == area
        )
