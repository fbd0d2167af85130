"""Understands commands for the entities of a home: what is to be done, with which of them, and how far.

The rules know roles, not languages.
"""

from collections.abc import Iterator, Sequence, Set as AbstractSet
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Final

from .kinds import ACTS_ON, BY_ASPECT, BY_UNIT, KINDS
from .lexicon import SILENT, SLIGHTLY, Role
from .reading import ACTING, NAMING, Parts, PhraseSpan, Spans
from .requests import (
    Choice,
    EntityCommand,
    OpenQuestion,
    UnknownName,
)
from .targets import LIGHT, STEPS, CommandTargets

type Commanded = EntityCommand | Choice | OpenQuestion | UnknownName

_OF_SOUNDS: Final = {
    "music": {
        "on": "resume",
        "off": "pause",
    },
    "radio": {
        "on": "",
        "off": "pause",
    },
}
"""Acts on the players of music and radio, by the kind and by the act that is named."""
_SOUNDING: Final = {
    "more": "louder",
    "less": "quieter",
}
"""More and less of a volume."""
_SCENES: Final = frozenset({"scene", "mood"})
"""Kinds of scenes, those for a mood beside a part of their names alone: "movie time"."""
_RUN: Final = frozenset({"scene", "script"})
"""The domains of what is started by its name alone: "movie night"."""
_VAGUE_ACTS: Final = frozenset({"turn", "change"})
PLAIN_ACTS: Final = ACTS_ON.keys() - {"brew", "find", "set", "start"}
"""Acts whose words mean nothing else."""
_VALUES: Final = (
    Role.AMOUNT,
    Role.LEVEL,
    Role.COLOUR,
)
_ROLES: Final = (
    SILENT
    | ACTING
    | NAMING
    | {
        *_VALUES,
        Role.ASPECT,
        Role.QUANTIFIER,
        Role.PRONOUN,
        Role.STATE,
    }
)
_OF_NAMES: Final = SILENT | NAMING | {Role.QUANTIFIER}
_TELLING: Final = (
    Role.ENTITY,
    Role.KIND,
    Role.ASPECT,
    Role.PRONOUN,
)
"""The roles of words that tell by themselves what a request is about."""
_SETTABLE: Final = frozenset(
    {
        "brightness",
        "colour",
        "position",
        "temperature",
        "volume",
    }
)
_OPENING: Final = {
    "open": "close",
    "close": "open",
}
"""Acts on covers and valves, with their opposites."""
_STEPPING: Final = frozenset({Role.ACT, Role.FILLER})
"""The roles of "a bit more", which names nothing."""
_SLIGHT: Final = 20.0
"""Percent by which covers and valves move a little."""
_ALL: Final = 100
"""The most percent."""


def commands(parts: Parts) -> Sequence[Commanded] | None:
    """Return what the words of one act ask for, a command for each group of entities; None if they ask for nothing.

    If a group means nothing, it is all that is returned.
    """
    if not _is_explained(parts) or _turns_back(parts):
        return None
    acts = _acts(parts)
    moved = _moved_again(acts, parts)
    if moved:
        return [moved]
    found = [one for act in _further(acts, parts) if (one := _commands(act, parts))]
    return min(
        found,
        key=lambda one: isinstance(one[0], UnknownName),
        default=None,
    )


def _is_explained(parts: Parts) -> bool:
    """Return whether all words may belong to a command."""
    roles = [span.role for span in parts.spans]
    is_cut = (Role.PREPOSITION, Role.AND) in pairwise([*roles, Role.AND])
    is_told = bool(parts.acts) and bool(parts.all(Role.STATE))
    is_mood = "mood" in parts.values(Role.KIND) and not parts.all(Role.ENTITY)
    if is_cut or is_told or is_mood or "from" in parts.values(Role.PREPOSITION):
        return False
    return _ROLES.issuperset(roles) and KINDS.keys() >= {*parts.values(Role.KIND)}


def _turns_back(parts: Parts) -> bool:
    """Return whether a second request lacks its verb: "turn off the fan and on the lamp", not "… and on the stairs"."""
    spans = [one for one in parts.spans if one.role is not Role.FILLER]
    for at, (before, span) in enumerate(pairwise(spans), start=2):
        is_begun = before.role in {Role.AND, Role.VERB}  # or "turn on the fan and off"
        if not is_begun or span.role is not Role.PREPOSITION:
            continue
        found = parts.reading.meanings(span.start)
        is_state = any(one.role is Role.STATE for end, one in found if end == span.end)
        rest = takewhile(
            lambda one: one.role is not Role.AND,
            spans[at:],
        )
        if is_state and any(one.role in {Role.ENTITY, Role.KIND} for one in rest):
            return True
    return False


def _acts(parts: Parts) -> Sequence[str]:
    """Return what may be to be done. Music that is turned off is paused, its player stays on."""
    acts = ["set" if one == "change" else one for one in parts.acts]
    acts = acts or [_act_without_verb(parts)]
    is_bare = parts.all(Role.PRONOUN) and not parts.all(*_TELLING[:3])
    if is_bare and not parts.surroundings.last and parts.surroundings.playing:
        acts = [_SOUNDING.get(act, act) for act in acts]  # "turn it up"
    for kind in parts.values(Role.KIND):
        acts = [_OF_SOUNDS.get(kind, {}).get(act, act) for act in acts]
    return acts


def _moved_again(
    acts: Sequence[str],
    parts: Parts,
) -> EntityCommand | None:
    """Return the command that has moved something a bit, once more or back: "a bit more"."""
    command = parts.surroundings.command
    if command is None or not command.is_by or command.act not in _OPENING:
        return None
    again = {
        "more": command.act,
        "less": _OPENING[command.act],
    }
    act = next(
        (again[one] for one in acts if one in again),
        "",
    )
    is_plain = bool(act) and _STEPPING.issuperset(parts.by_role)
    if is_plain:
        return replace(
            command,
            act=act,
            is_elliptic=True,
        )
    return None


def _is_about_something(parts: Parts) -> bool:
    """Return whether words tell by themselves what a request is about."""
    return any(
        span.named is None or span.named.is_whole for span in parts.all(*_TELLING)
    )


def _further(
    acts: Sequence[str],
    parts: Parts,
) -> Sequence[str]:
    """Return acts, in place of "more" and "less" what was more before."""
    command = parts.surroundings.command
    is_named = _is_about_something(parts)
    if command is None or command.act not in STEPS or is_named:
        return acts
    again = {
        "more": command.act,
        "less": STEPS[command.act],
    }
    return [again.get(act, act) for act in acts]


def _commands(
    act: str,
    parts: Parts,
) -> Sequence[Commanded] | None:
    """Return the commands of an act; None if it is not for what the words name."""
    command = _with_value(act, parts)
    if command is None:
        return None
    domains = _domains(command) & ACTS_ON.get(act, frozenset())
    found = list[Commanded]()
    groups = [*groups_of(parts.spans)]
    while groups:
        group = groups.pop(0)
        targets = CommandTargets(
            parts.of(group),
            command.act,
            domains,
        )
        match targets.found():
            case None if parted := _parted(group):
                groups = [*parted, *groups]
            case None:
                return _unknown(targets)
            case Choice() as choice:
                found.append(choice)
            case ids if (
                command.amount is not None and len(parts.names.domains(ids)) > 1
            ):
                return None  # a number means something else for each
            case ids:
                is_elliptic = not any(span.role in NAMING for span in group)
                found.append(
                    replace(
                        command,
                        ids=ids,
                        is_elliptic=is_elliptic,
                    )
                )
    is_valued = command.amount is not None or bool(command.colour)
    lacks_value = command.act == "set" and not is_valued
    if lacks_value:
        return [OpenQuestion("value")]
    return found


def _parted(group: Spans) -> Sequence[Spans]:
    """Return two groups of one that ends with a room: "the curtains and the garage" are no curtains of the garage."""
    roles = [span.role for span in group]
    named = [at for at, role in enumerate(roles) if role in {Role.ENTITY, Role.KIND}]
    if not named or Role.AND not in roles[named[-1] :]:
        return ()
    cut = roles.index(Role.AND, named[-1])
    return group[:cut], group[cut:]


def _unknown(targets: CommandTargets) -> Sequence[UnknownName] | None:
    """Return the words for entities that are not at home, or not there; None if they are, and cannot do it."""
    parts = targets.parts
    named = [span for span in parts.spans if span.role in NAMING]
    if all(span.role is Role.PLACE for span in named) or parts.all(Role.PRONOUN):
        return None
    is_here = "here" in parts.values(Role.QUANTIFIER)
    domains = frozenset(one.domain for one in parts.names.entities)
    if is_here or replace(targets, domains=domains).found():
        return None
    start = named[0].start
    end = named[-1].end
    called = parts.names.found(
        parts.reading.heard,
        start,
    )
    if any(last == end and one.is_whole for last, one in called):
        return None  # it is there, whatever else the words may mean
    return [UnknownName(parts.reading.text(start, end))]


def following_commands(parts: Parts) -> Sequence[EntityCommand | Choice]:
    """Return the command before, for what is named after it: "and the kitchen"; empty if there are more words."""
    command = parts.surroundings.command
    is_joined = any(span.role is Role.AND for span in parts.reading.spans)
    if command is None or not (is_joined and _OF_NAMES.issuperset(parts.by_role)):
        return ()
    if parts.all(Role.ENTITY, Role.KIND):
        domains = _domains(command)
    else:
        domains = parts.names.domains(command.ids)
    found = CommandTargets(
        parts,
        command.act,
        domains,
    ).found()
    if isinstance(found, Choice):
        return (found,)
    if found:
        return (replace(command, ids=found),)
    return ()


def may_mean(
    parts: Parts,
    domains: AbstractSet[str],
) -> bool:
    """Return whether the words of a request may be for entities of some domains.

    A place alone does not tell: "ouvre le garage" is not about its light, and "the
    bedroom to 20" may be anything.
    """
    possible = [
        ACTS_ON.get(
            one,
            domains if one in _VAGUE_ACTS else frozenset(),
        )
        for one in parts.acts
    ]
    is_bare = any(not span.value for span in parts.all(Role.AMOUNT)) and all(
        len(one) > 1 for one in possible
    )
    return _is_about_something(parts) or not (
        is_bare or (possible and all(map(domains.isdisjoint, possible)))
    )


def _is_run(span: PhraseSpan, parts: Parts) -> bool:
    """Return whether a phrase is the name of a scene or a script: the whole, or a part beside "scene"."""
    if span.named is None or span.role is not Role.ENTITY:
        return span.value in _SCENES
    is_scene = not _SCENES.isdisjoint(parts.values(Role.KIND))
    is_named = span.named.is_whole or is_scene
    return is_named and parts.names.domains(span.named.ids) <= _RUN


def _act_without_verb(parts: Parts) -> str:
    """Return what is to be done where no verb tells: "desk lamp off", "movie night"; empty if nothing does."""
    if parts.all(*ACTING):
        return ""
    spans = [span for span in parts.spans if span.role is not Role.FILLER]
    if spans and all(_is_run(span, parts) for span in spans):
        return "on" if parts.named else ""
    if parts.all(*_VALUES):
        if parts.all(Role.STATE):
            return ""
        return "set"
    return _switching_state(spans)


def _switching_state(spans: Spans) -> str:
    """Return whether to switch on or off, as the words begin, or end but for a place: "kitchen lights off"."""
    states = [span for span in spans if span.role is Role.STATE]
    if len(states) != 1 or states[0].value not in {"on", "off"}:
        return ""
    after = {span.role for span in spans[spans.index(states[0]) + 1 :]}
    is_before_place = after <= {Role.PREPOSITION, Role.PLACE}
    if states[0] is spans[0] or is_before_place:
        return states[0].value
    return ""


def groups_of(spans: Spans) -> Iterator[Spans]:
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


def _with_value(
    act: str,
    parts: Parts,
) -> EntityCommand | None:
    """Return a command with its value; None if it lacks one, or has one too many."""
    values = parts.all(*_VALUES)
    aspects = parts.values(Role.ASPECT)
    colours = parts.all(Role.COLOUR)
    if len(colours) == 1 and len(values) > 1:
        return _coloured(
            act,
            parts,
            colours[0],
        )
    if not act or len(values) > 1 or len(aspects) > 1:
        return None
    command = EntityCommand(
        act,
        aspect=aspects[0] if aspects else "",
    )
    if not values:
        return _without_value(command, parts)
    ends = {one.end: one.value for one in parts.all(Role.PREPOSITION)}
    before = ends.get(values[0].start, "")
    if _is_share(values[0], before, parts):
        return None
    valued = _valued(
        command,
        values[0],
        before,
    )
    if valued:
        return _as_set(
            valued,
            values[0],
            before,
        )
    return None


def _coloured(
    act: str,
    parts: Parts,
    colour: PhraseSpan,
) -> EntityCommand | None:
    """Return a command that sets a colour and a brightness: "blue at 30 percent"."""
    rest = parts.of([one for one in parts.spans if one is not colour])
    command = _with_value(act, rest)
    if command is None or _is_share(
        colour,
        "",
        parts,
    ):
        return None
    is_set = (command.act, command.unit, command.is_by) == ("set", "percent", False)
    if is_set:
        return replace(command, colour=colour.value)
    return None


def _without_value(
    command: EntityCommand,
    parts: Parts,
) -> EntityCommand | None:
    """Return a command that has no value; None if it lacks one."""
    if command.act in _OPENING and SLIGHTLY in parts.values(Role.FILLER):
        return replace(
            command,
            amount=_SLIGHT,
            unit="percent",
            is_by=True,
        )
    if command.act in STEPS:
        return command
    if command.act == "set":
        if command.aspect in _SETTABLE:
            return command
        return None
    return None if command.aspect else command


def _is_share(
    value: PhraseSpan,
    before: str,
    parts: Parts,
) -> bool:
    """Return whether a value tells how many are meant: "half the lights" are some of them."""
    after = [one.role for one in parts.spans if one.start > value.start]
    following = [one for one in after if one in {Role.KIND, Role.PREPOSITION}]
    is_part = before not in {"to", "at", "by"} and value.value != "100"
    return is_part and following[:1] == [Role.KIND]


def _valued(
    command: EntityCommand, value: PhraseSpan, before: str
) -> EntityCommand | None:
    """Return a command with a value after a preposition; None for a number that may be another one.

    "The 4 lamp" is a lamp, and "at 4" is a time.
    """
    if value.role is Role.COLOUR:
        return replace(command, colour=value.value)
    if value.role is Role.LEVEL:
        return replace(
            command,
            amount=float(value.value),
            unit="percent",
        )
    is_by = before not in {"to", "at"} and command.act in STEPS
    if before == "by" and not is_by:
        return None
    is_certain = bool(value.value) or before == "to"
    is_told = bool(command.aspect) and (before == "by" or not is_by)
    if not (is_certain or is_told):
        return None
    return replace(
        command,
        amount=value.number,
        unit=value.value,
        is_by=is_by,
    )


def _as_set(
    command: EntityCommand, value: PhraseSpan, before: str
) -> EntityCommand | None:
    """Return a command with a value as one that sets it, unless it changes something by a step; None if it cannot."""
    act = command.act
    if act in STEPS and not command.colour:
        return command
    is_position = before == "to" and value.role is not Role.LEVEL
    if act == "close" and value.value != "50" and not is_position:
        if value.value == "100":
            return EntityCommand(act)
        return None
    is_set = act in {"set", "on", *STEPS} or (act in _OPENING and not command.colour)
    if is_set:
        return replace(command, act="set")
    return None


def _domains(command: EntityCommand) -> frozenset[str]:
    """Return the domains that a command may be for."""
    domains = ACTS_ON.get(command.act, frozenset())
    if command.aspect:
        domains &= BY_ASPECT.get(
            command.aspect,
            frozenset(),
        )
    if command.colour:
        domains &= LIGHT
    if command.amount is not None:
        domains &= BY_UNIT.get(
            command.unit or "number",
            frozenset(),
        )
        if command.amount > _ALL and command.unit in {"", "percent"}:
            domains -= BY_UNIT["percent"]
    return domains
