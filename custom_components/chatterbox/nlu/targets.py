"""Finds the entities that the words of a command mean.

Things that are named have to exist, where they are said to be, and be able to do it;
where several fit and one is meant, it is a choice between these.
"""

from collections.abc import Iterable, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from .kinds import KINDS, OPENED, EntityKind
from .lexicon import GAP, SILENT, Role
from .reading import ACTING, NAMING, Parts, read
from .requests import Choice, Surroundings
from .vocabulary import HomeVocabulary

LIGHT: Final = frozenset({"light"})
PLAYER: Final = frozenset({"media_player"})
CLIMATE: Final = frozenset({"climate"})
ROBOTS: Final = frozenset({"vacuum", "lawn_mower"})
MODE: Final = "mode"
"""Stands for the act of setting a mode."""
STEPS: Final = {
    "brighter": "darker",
    "louder": "quieter",
    "warmer": "cooler",
    "more": "less",
    "darker": "brighter",
    "quieter": "louder",
    "cooler": "warmer",
    "less": "more",
}
"""Acts that change something by a step, with their opposites."""
PASSIVE: Final = frozenset({"binary_sensor", "event", "sensor", "update", "weather"})
_ALONE: Final = frozenset(
    {
        "warmer",
        "cooler",
        "brighter",
        "darker",
        "more",
        "less",
        "set",
        "dock",
        "clean",
        MODE,
    }
)
"""Acts that tell by themselves for what they are, as far as there is only one in the room, or at home."""
_ASKED: Final = frozenset({"warmer", "cooler", "brighter", "darker", MODE})
"""Those after which is asked which one is meant."""
_IMPERSONAL: Final = frozenset(
    {
        "warmer",
        "cooler",
        "brighter",
        "darker",
        "louder",
        "quieter",
    }
)
"""Acts on a room rather than a thing: "make it darker here"."""
_VAGUE: Final = frozenset({"more", "less"})
"""Acts for several kinds of entities, which they do not tell."""
_STOPPED: Final = ROBOTS | {"fan", "valve"}
"""The domains of entities that are stopped, beside players."""
_SOUNDS: Final = frozenset({"music", "radio", "player", "players"})
"""Kinds of what plays, wherever it does."""
_SWITCHED: Final = frozenset({"on", "off"})
_NARROW: Final = [kind for value, kind in KINDS.items() if value != "everything"]
type Meant = frozenset[str] | Choice | None
"""The entities that words mean, or a choice of one of them; None if they mean none."""

_TWO: Final = 2
_NAMES: Final = SILENT | NAMING
"""The roles of words that only name something."""
_DOING: Final = ACTING | {Role.STATE}
"""The roles of words that say what is to be done: "bedroom off"."""


def with_chosen(
    choice: Choice,
    answer: str,
    names: HomeVocabulary,
) -> str:
    """Return the sentence of a choice with the entity that an answer means; empty if it means none, or says more.

    A room means the only one of them that is there.
    """
    for reading in read(answer, names):
        parts = Parts(reading.spans, reading)
        kinds = parts.values(Role.KIND)
        is_name = parts.by_role.keys() <= _NAMES and "everything" not in kinds
        beside = (
            meaning.role
            for span in parts.all(*SILENT)
            for _, meaning in reading.meanings(span.start)
        )
        if not (is_name and _DOING.isdisjoint(beside)):
            continue
        meant = choice.ids.intersection(*(named.ids for named in parts.named))
        for place in parts.all(Role.PLACE):
            meant = names.within(meant, parts.areas_of(place))
        entities = [names.by_id[one] for one in meant]
        for kind in kinds:
            entities = [one for one in entities if KINDS[kind].has(one)]
        if len(entities) == 1:
            return choice.sentence.replace(GAP, entities[0].names[0])
    return ""


def places_of(parts: Parts) -> Sequence[frozenset[str | None]]:
    """Return the areas of each place that is named, without areas for one that is not known.

    "Upstairs and in the kitchen" are two places, "the bedroom upstairs" is one.
    """
    runs: list[list[frozenset[str | None]]] = [[]]
    for span in parts.spans:
        if span.role is Role.AND:
            runs.append([])
        elif span.role is Role.PLACE:
            runs[-1].append(parts.areas_of(span))
    if "here" in parts.values(Role.QUANTIFIER):
        runs[-1].append(frozenset({parts.surroundings.area_id} - {None}))
    return [run[0].intersection(*run) for run in runs if run]


@dataclass(frozen=True)
class CommandTargets:
    """The entities that one group of words means."""

    parts: Parts
    act: str
    domains: AbstractSet[str]
    among: frozenset[str] | None = None
    """The entities that can do it; None for all that have the domains."""

    @property
    def names(self) -> HomeVocabulary:
        """The names of the home."""
        return self.parts.names

    @property
    def surroundings(self) -> Surroundings:
        """Where the words were said."""
        return self.parts.surroundings

    def found(self) -> Meant:
        """Return the entities; None if the words mean none, and a choice if one of several is meant."""
        able = self._able
        if "others" in self._quantifiers:
            return self._others(able) or None
        last = self.surroundings.last & able
        if self.parts.all(Role.PRONOUN) and not self._is_idle_pronoun:
            return (self._names_nothing and last) or None
        if self._is_about(last):
            return last
        places = places_of(self.parts)
        if places:
            able = self.names.within(
                able,
                frozenset[str | None]().union(*places),
            )
        kinds = {*self.parts.values(Role.KIND)}
        for kind in kinds - {"everything"} if self._is_locking else kinds:
            able = self._having([KINDS[kind]], able)
        found = self._of_words(able, places)
        ids = found.ids if isinstance(found, Choice) else found
        if ids and all(self.names.within(ids, areas) for areas in places):
            return found
        return None

    def _of_words(
        self, able: frozenset[str], places: Sequence[frozenset[str | None]]
    ) -> Meant:
        """Return what is meant by a name, else of all players, else by a kind, else by no word."""
        if self.parts.all(Role.ENTITY):
            return self._named(able)
        if self._is_for_each_player(places):
            return self._in_state(able) or None
        is_wide = bool(self._quantifiers & {"all", "home"})
        if is_wide and self.domains == CLIMATE and not self.parts.all(Role.KIND):
            return able or None  # "heat all rooms"
        is_everything = self.parts.values(Role.KIND) == ["everything"]
        is_of_kind = self.parts.all(Role.KIND) and not (
            is_everything and self._is_locking
        )
        of_words = self._of_kind if is_of_kind else self._unnamed
        return of_words(able, is_placed=bool(places))

    @property
    def _is_locking(self) -> bool:
        """Whether "everything" is each lock: "lock everything"."""
        return self.act == "lock" and self.domains == {"lock"}

    @property
    def _is_idle_pronoun(self) -> bool:
        """Whether a pronoun stands for no entity.

        So in "make it warmer in the bathroom", and in "make it warmer" where none was
        spoken of.
        """
        if self.parts.all(Role.ENTITY, Role.KIND):
            return False
        if self.parts.all(Role.PLACE):
            is_heated = self.act == "set" and self.domains == CLIMATE
            return is_heated or self.act in _IMPERSONAL
        is_of_climate = self.domains == CLIMATE and self.act == MODE
        is_impersonal = is_of_climate or self.act in _IMPERSONAL
        return is_impersonal and not self.surroundings.last

    def _is_for_each_player(self, places: Sequence[frozenset[str | None]]) -> bool:
        """Return whether words mean the players of the home, or of several places, as far as an act is for them."""
        kinds = {*self.parts.values(Role.KIND)}
        is_wide = len(places) > 1 or "home" in self._quantifiers
        is_of_players = self.domains - _STOPPED == PLAYER and self.act not in _SWITCHED
        return is_wide and is_of_players and kinds <= _SOUNDS

    def _in_state(self, able: frozenset[str]) -> frozenset[str]:
        """Return the players that an act is for by what they do now: none is resumed that does not pause."""
        match self.act:
            case "play" | "mode":
                return able
            case "resume":
                return able & self.surroundings.paused
            case "pause" | "stop" | "next" | "previous":
                return able & self.surroundings.playing
            case _:
                return able & self.surroundings.on

    @property
    def _able(self) -> frozenset[str]:
        """The entities that the act is for."""
        found = frozenset(
            one.entity_id for one in self.names.entities if one.domain in self.domains
        )
        if self.among is None:
            return found
        return found & self.among

    @property
    def _names_nothing(self) -> bool:
        return not self.parts.all(*NAMING)

    @property
    def _quantifiers(self) -> frozenset[str]:
        return frozenset(self.parts.values(Role.QUANTIFIER))

    @property
    def _is_many(self) -> bool:
        kinds = (KINDS[value] for value in self.parts.values(Role.KIND))
        return any(kind.is_plural for kind in kinds) or bool(
            self._quantifiers & {"all", "both"}
        )

    def _having(
        self, kinds: Sequence[EntityKind], ids: Iterable[str]
    ) -> frozenset[str]:
        """Return those of some entities that are of one of some kinds."""
        return frozenset(
            one for one in ids if any(kind.has(self.names.by_id[one]) for kind in kinds)
        )

    def _near(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of some entities that are in the room of the speaker."""
        area = self.surroundings.area_id
        if area:
            return self.names.within(ids, {area})
        return frozenset()

    def _others(self, able: frozenset[str]) -> frozenset[str]:
        """Return what is of the same kind, and in the same room, as the entities of the request before."""
        kinds_of = {
            one: (self.names.by_id[one].domain, self.names.by_id[one].area_id)
            for one in able
        }
        alike = {kinds_of[one] for one in self.surroundings.last & able}
        others = able - self.surroundings.last
        return frozenset(one for one in others if kinds_of[one] in alike)

    def _is_about(self, last: frozenset[str]) -> bool:
        """Return whether words that name nothing go on about the entities of the request before.

        "A bit more" does, and "turn off both".
        """
        if not self._names_nothing:
            return False
        if self._quantifiers:
            is_number_right = len(last) == _TWO or "all" in self._quantifiers
            is_counted = self._quantifiers <= {"all", "both"}
            return is_counted and is_number_right and len(last) >= _TWO
        command = self.surroundings.command
        is_further = command is not None and command.act != "off"
        return bool(last) and is_further and self.act in {*STEPS, "set"}

    def _named(self, able: AbstractSet[str]) -> Meant:
        """Return the entity that the names mean together.

        A part of a name means none where another thing of the kind has it: "raise the
        desk" is not about the desk lamp.
        """
        named = self.parts.named
        meant = frozenset(self.names.by_id).intersection(*(one.ids for one in named))
        for value in self.parts.values(Role.KIND):
            meant = self._having(
                [KINDS[value]],
                meant,
            )
        others = self.names.domains(meant) - self.domains - PASSIVE
        if others and not any(one.is_whole for one in named):
            return None
        ids = meant & able
        near = self._near(ids)
        if near:
            ids = near
        elif any(one.is_kind for one in named):
            kinds = [kind for kind in _NARROW if self._having([kind], ids)]
            ids |= self._near(self._having(kinds, able))
        if len(ids) > 1:
            return self._choice(ids)
        return ids or None

    def _of_kind(
        self,
        able: frozenset[str],
        *,
        is_placed: bool,
    ) -> Meant:
        """Return the entities of a kind: of the place that is named, else of the room, else the only one at home."""
        is_everywhere = is_placed or bool(self._quantifiers & {"all", "home"})
        if self._is_many and self.surroundings.area_id is None:
            is_everywhere = True
        if is_everywhere:
            near = frozenset[str]()
        else:
            near = self._near(able)
        found = near or able
        if not self._is_many:
            found = found & self.surroundings.playing or found
        is_idle = self.act == "pause" and not self.surroundings.playing
        if len(found) <= 1 or is_idle:
            return found or None
        has_place = is_everywhere or bool(near)
        if self._are_all_meant(found, has_place=has_place):
            return found
        return self._choice(found)

    def _choice(self, ids: frozenset[str]) -> Choice:
        """Return the choice of one of some entities, with the sentence about it."""
        spans = self.parts.spans
        reading = self.parts.reading
        places = [at for at, span in enumerate(spans) if span.role in NAMING]
        named = spans[places[0] : places[-1] + 1] if places else ()
        if not named or not {span.role for span in named} <= _NAMES:
            return Choice(ids)
        before = reading.text(0, named[0].start).replace(GAP, " ")
        end = len(reading.tokens)
        after = reading.text(named[-1].end, end).replace(GAP, " ")
        return Choice(ids, f"{before} {GAP} {after}".strip())

    def _are_all_meant(
        self,
        found: frozenset[str],
        *,
        has_place: bool,
    ) -> bool:
        """Return whether several entities are meant together: the lights of a room, or more than one of a kind."""
        if "both" in self._quantifiers:
            return len(found) == _TWO
        domains = self.names.domains(found)
        if domains == LIGHT:
            return self._is_many or has_place
        if domains == CLIMATE and "home" in self._quantifiers:
            return True  # "turn off the heating everywhere"
        return self._is_many and has_place

    def _unnamed(
        self,
        able: frozenset[str],
        *,
        is_placed: bool,
    ) -> Meant:
        """Return what an act is for that names only a place, or nothing."""
        if is_placed and "light" in self.domains:
            return self._lights(able) or None
        is_here = self.surroundings.area_id or self.act not in _ASKED
        if self.domains == LIGHT and is_here:
            return self._near(able) or None  # "brighter"
        if self.domains == {"lock"} and "both" not in self._quantifiers:
            return (able or None) if self.act == "lock" else None  # "lock up"
        found = self._only(able, is_placed=is_placed)
        if len(found) > 1 and self.act in _ASKED:
            return self._choice(found)
        if len(found) == 1:
            return found
        return None

    def _lights(self, able: frozenset[str]) -> frozenset[str]:
        """Return the lights of a place, unless its thermostats, or whatever sounds there, may be meant as well.

        "More in the kitchen" says nothing about light.
        """
        is_vague = self.act in _VAGUE and len(self.domains) > 1
        is_heated = "climate" in self.names.domains(able)
        is_other = is_vague or (is_heated and self.act not in _SWITCHED)
        if is_other:
            return frozenset()
        return self._having([KINDS["light"]], able)

    def _only(
        self,
        able: frozenset[str],
        *,
        is_placed: bool,
    ) -> frozenset[str]:
        """Return the entities of which the only one is meant."""
        if self.domains - _STOPPED == PLAYER and self.act not in _SWITCHED:
            players = self._having(
                [KINDS["player"]],
                able,
            )
            playing = players & self.surroundings.playing
            return self._near(playing) or playing or self._near(players) or players
        if is_placed:
            # "clean the kitchen" is no order for coffee
            is_vague = self.act in {"brew", "start"} or self.domains == OPENED
            if is_vague:
                return self._having(
                    [KINDS["garage"]],
                    able,
                )
            return able
        is_vague = self.act in _VAGUE and len(self.domains) > 1
        is_told = self.act in _ALONE and not is_vague
        if is_told:
            return self._near(able) or able
        return frozenset()
