"""What is known of a language to understand a yes, a no and a spoken number.

Templates are written as in Home Assistant's sentences: `[please]` may be left out, `(yes|yeah)` is
one of both. `{it}` stands for the device that was asked about: a word for it, or its name; `{action}`
for what was asked for, as `actions` has it; `{order}` for those of these that never name the device:
"ábrela". Write all of it as a person would say it; capitals and punctuation do not matter. Knows no
language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What was asked for, so that an answer may repeat it and must not say the opposite."""

    UNLOCK = "unlock"
    LOCK = "lock"
    OPEN = "open"
    CLOSE = "close"
    DISARM = "disarm"
    ARM = "arm"
    TURN_ON = "turn_on"
    TURN_OFF = "turn_off"
    RUN = "run"
    """Start a script, a scene or an automation."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language agrees to something, and how it declines."""

    yes: tuple[str, ...]
    """Each of these is a plain yes, all alone, to any question whether something shall be done."""
    behind_yes: tuple[str, ...]
    """What may follow a yes, or another of these, and still leaves it one: "yes", "go ahead", "I'm sure"."""
    no: tuple[str, ...]
    """Each of these declines, all alone, and may be followed by others."""
    courtesies: tuple[str, ...]
    """What adds nothing anywhere: "please", "oh"."""
    actions: Mapping[Action, tuple[str, ...]]
    """What the same person would say to have it done: "unlock [{it}]"."""
    it: tuple[str, ...]
    """Words for one device: "it"."""
    them: tuple[str, ...]
    """Words for several devices, and for all of them: "both"."""
    named: tuple[str, ...]
    """How `{name}`, the name of a device, stands in a sentence: "the {name}"."""
    placed: tuple[str, ...]
    """How `{place}`, the name of the room of a device, stands before or behind it: "in the {place}"."""
    yes_alone: tuple[str, ...] = ()
    """A yes with only courtesies around it; other words would make it something else: Spanish "si" is also "if"."""
    no_alone: tuple[str, ...] = ()
    """A no with only courtesies around it; it would turn other words around: "don't"."""
    accents_matter: tuple[str, ...] = ()
    """Words that mean something else without their accents. Others may be written without: "nao", "dejala"."""
    folded: str = ""
    """Pairs of characters: one, and what is read in its place."""


@dataclass(frozen=True, slots=True)
class NumberWords:
    """How one language says the numbers up to 99. Everything is a template; accents do not matter."""

    digits: tuple[str, ...]
    """0 to 9, as they are said alone."""
    teens: tuple[str, ...]
    """10 to 19."""
    tens: tuple[str, ...]
    """20, 30 to 90."""
    compounds: tuple[str, ...]
    """How the others are put together: `{ten} {unit}`."""
    irregular: Mapping[int, str]
    """Templates of numbers that are said in another way, or in other ways too."""
    repeats: Mapping[str, int]
    """Words that say how often the next digit comes: "double" is 2."""
    before: tuple[str, ...]
    """Templates of what may be said before the digits, and adds nothing: "my PIN is"."""
    after: tuple[str, ...]
    """The same behind them: "please"."""
    units: tuple[str, ...] = ()
    """1 to 9 within other numbers, if they are not as they are alone."""
    large: tuple[str, ...] = ()
    """Words for hundreds and thousands, which are not understood as digits; `*` stands for any letters around them."""
    weak: tuple[str, ...] = ()
    """Those of the digits that are other words, too: "a moment", "no one", "oh"."""
    idioms: tuple[str, ...] = ()
    """What has a number in it and says none: "grazie mille", "a hundred percent"."""
