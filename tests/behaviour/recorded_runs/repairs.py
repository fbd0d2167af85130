"""`script/replay --repairs`: measures the gain of each repair of calls in the recorded runs.

Each is left out in turn, and what it was applied to is replayed: the runs that lead to states, and the hard cases,
whose calls and words are compared with those that a person reads in them. A run is right if its states are, and
nobody had to be asked what was meant; a hard case, if its calls also fit their tools.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Final
from unittest.mock import patch

from homeassistant.components.conversation import Content, ToolResultContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.json import coercion
from custom_components.chatterbox.agent.loop import calls
from custom_components.chatterbox.agent.messages import ToolDefinition
from custom_components.chatterbox.agent.repair import text_calls
from custom_components.chatterbox.agent.repair.text_markup import Markers
from custom_components.chatterbox.tools.repair import intent_calls, short_names
from tests.behaviour.recorded_runs.hard_cases import HardCase
from tests.behaviour.recorded_runs.replay import Way, replay
from tests.behaviour.recorded_runs.runs import Batch, RecordedRun
from tests.behaviour.recorded_runs.test_hard_cases import (
    PIECES,
    agent,
    script_of,
    talk_and_compare,
)
from tests.support.own_home import run_in_own_home
from tests.support.page_tables import MEASURED, table

PAGE = MEASURED / "small-models.md"
type Key = tuple[type, str, str]
"""Which run it is, or which hard case."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A function that repairs, and what stands in its place where it is left out."""

    name: str
    owner: object
    function: str
    left_out: Callable[..., object]

    @contextmanager
    def replaced(self, function: Callable[..., object]) -> Iterator[None]:
        """Put a function in the place of the repair, also in the order of those of intents."""
        repair = getattr(self.owner, self.function)
        steps = [function if one is repair else one for one in intent_calls.ORDER]
        with (
            patch.object(self.owner, self.function, function),
            patch.object(intent_calls, "ORDER", steps),
        ):
            yield


@dataclass(frozen=True, slots=True)
class Gain:
    """The runs that a repair was applied to, and how many of them are right."""

    repair: Repair
    applied: int
    right: int
    right_without: int


_FIT: Final = coercion._Fit  # noqa: SLF001  # measured step by step


def _argument(index: int) -> Callable[..., object]:
    return lambda *arguments, **_: arguments[index]


def _exact_tool(name: str, tools: Collection[ToolDefinition]) -> ToolDefinition | None:
    return next((tool for tool in tools if tool.name == name), None)


def _no_markers(*_: object, **_options: bool) -> Markers:
    return Markers()


def _exactly(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of coercion that takes only what fits as it is."""
    return lambda fit, *arguments: function(replace(fit, generous=False), *arguments)


REPAIRS: Final = (
    Repair("calls and headers in the text", text_calls, "markers_for", _no_markers),
    Repair("the name of the tool", calls, "find_tool", _exact_tool),
    Repair("a list of one", _FIT, "_fit_array", _exactly(_FIT._fit_array)),  # noqa: SLF001
    Repair("useless filters", intent_calls, "without_useless_filters", _argument(0)),
    Repair(
        "positions of what opens and closes",
        intent_calls,
        "opened_or_closed",
        _argument(0),
    ),
    Repair(
        "vacuums turned on and off", intent_calls, "started_or_sent_home", _argument(0)
    ),
    Repair(
        "short names",
        short_names.NameResolver,
        "_meant",
        lambda _, __, search, arguments: arguments[search.slot],
    ),
)
"""In the order in which they are applied to a call."""


@dataclass(slots=True)
class _Watch:
    """Notes which repairs change something in the run that goes on."""

    key: Key = (RecordedRun, "", "")
    applied: defaultdict[str, set[Key]] = field(
        default_factory=lambda: defaultdict(set)
    )

    @contextmanager
    def watching(self, repairs: Iterable[Repair]) -> Iterator[None]:
        """Note what each of some repairs is applied to."""
        with ExitStack() as stack:
            for one in repairs:
                watched = self._watched(one, getattr(one.owner, one.function))
                stack.enter_context(one.replaced(watched))
            yield

    def begin(self, run: RecordedRun | HardCase) -> None:
        """Begin a run."""
        self.key = key_of(run)

    def _watched(
        self, repair: Repair, function: Callable[..., object]
    ) -> Callable[..., object]:
        def note(arguments: tuple[object, ...], result: object) -> None:
            try:
                otherwise = repair.left_out(*arguments)
            except ValueError:
                otherwise = ValueError
            if otherwise != result:
                self.applied[repair.name].add(self.key)

        @wraps(function)
        def watched(*arguments: object, **options: object) -> object:
            try:
                result = function(*arguments, **options)
            except ValueError:
                note(arguments, ValueError)
                raise
            note(arguments, result)
            return result

        return watched


def measure(
    repairs: Iterable[Repair], batches: Sequence[Batch], cases: Sequence[HardCase]
) -> list[Gain]:
    """Replay everything with all repairs, and what each was applied to without it."""
    watch = _Watch()
    chosen = [*repairs]
    with watch.watching(chosen):
        right = _right(watch, batches, cases)
    gains: list[Gain] = []
    for repair in chosen:
        applied = watch.applied[repair.name]
        runs = [
            replace(
                one, runs=tuple([run for run in one.runs if key_of(run) in applied])
            )
            for one in batches
        ]
        texts = [case for case in cases if key_of(case) in applied]
        with repair.replaced(repair.left_out):
            without = _right(_Watch(), runs, texts)
        gains.append(Gain(repair, len(applied), len(right & applied), len(without)))
    return gains


def key_of(run: RecordedRun | HardCase) -> Key:
    """Return what tells a run from all others."""
    return type(run), run.model, run.task


def _right(
    watch: _Watch, batches: Iterable[Batch], cases: Sequence[HardCase]
) -> set[Key]:
    """Return which runs and hard cases come right."""
    right: set[Key] = set()
    for batch in (one for one in batches if one.runs):
        outcomes = run_in_own_home(
            partial(replay, batch=batch, way=Way.OURS, begins=watch.begin)
        )
        right |= {
            key_of(outcome.run)
            for outcome in outcomes
            if outcome.succeeded and not outcome.is_chosen
        }
    if not cases:
        return right
    return right | run_in_own_home(partial(_right_cases, watch=watch, cases=cases))


async def _right_cases(
    hass: HomeAssistant, watch: _Watch, cases: Iterable[HardCase]
) -> set[Key]:
    """Return the hard cases whose calls and words are those that a person reads in them."""
    right: set[Key] = set()
    async with agent(hass, is_as_recorded=True) as model:
        for case in cases:
            watch.begin(case)
            model.play(script_of(case, PIECES))
            with suppress(AssertionError, ValueError):
                await talk_and_compare(hass, case)
                if not _is_misfit(hass.data[DATA_CHAT_LOGS][case.id].content):
                    right.add(key_of(case))
    return right


def _is_misfit(contents: Iterable[Content]) -> bool:
    """Return whether the arguments of a call did not fit its tool."""
    return any(
        ": expected " in str(content.result)
        for content in contents
        if isinstance(content, ToolResultContent)
    )


def gains_table(gains: Iterable[Gain]) -> str:
    """Return the table of the page."""
    rows = [
        [one.repair.name, *map(str, (one.applied, one.right, one.right_without))]
        for one in gains
    ]
    return table(["repair", "applied", "right with it", "right without it"], rows)
