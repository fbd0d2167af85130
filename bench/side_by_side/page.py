"""Writes `bench/pages/performance.md`: the method, the machine, the targets and all figures.

Knows words and tables; must not know how anything was measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bench.side_by_side import plots, targets
from bench.side_by_side.jobs import SIZES
from bench.side_by_side.parts import Part, parts_of
from bench.side_by_side.results import Measure, Results

_TITLES: Final[Mapping[Measure, str]] = {
    "cpu_ms": "CPU, ms",
    "cpu_us_per_token": "CPU per fragment, µs",
    "first_ms": "first delta, ms",
    "turn_ms": "turn, ms",
    "between_requests_ms": "to the next request, ms",
    "request_bytes": "request, bytes",
    "prompt_bytes": "prompt, bytes",
    "prompt_tokens": "prompt, tokens",
    "same_as_before": "shared with the previous request",
    "same_as_any_before": "shared with any earlier request",
    "peak_kib": "peak, KiB",
    "kept_kib": "kept, KiB",
    "blocks_left": "left after the end",
    "import_s": "import, s",
    "import_mib": "import, MiB",
    "setup_s": "set-up, s",
}
_SCENARIOS: Final[Mapping[str, str]] = {
    "plain, converse": (
        "A turn without a call, by `conversation.async_converse`. The model sends 40 fragments of 5 characters, 400 a "
        "second."
    ),
    "tool, converse": "A turn with one call: a light is switched on, then the same answer follows.",
    "plain, pipeline": "A turn without a call through the Assist pipeline, from text to text.",
    "tool, pipeline": "A turn with one call through the Assist pipeline.",
    "fragments": "The cost of each fragment of an answer, from answers of 400 and of 40.",
    "first request": "The first request of a conversation. Tokens are those of Qwen's tokenizer.",
    "warm-up": (
        "What is sent when someone begins to speak, before the words are known, and the share of the first request's "
        "prompt that the service has read then."
    ),
    "two satellites": (
        "Ten alternating turns of two satellites in two areas: the share of the prompt's bytes, from its beginning, "
        "that an earlier request had too."
    ),
    "turn 1": "The first turns of a conversation; the server answers without pauses.",
    "turn 10": "Around the tenth turn of a conversation.",
    "turn 50": "Around the fiftieth turn of a conversation.",
    "turn 100": "Around the hundredth turn of a conversation.",
    "1 at once": "One conversation at a time, 100 fragments a second.",
    "10 at once": "Ten conversations at once.",
    "50 at once": "Fifty conversations at once.",
    "five tools of 300 ms": "Five calls of a script of 300 ms in one message: until the next request begins.",
    "plain": (
        "Memory that a turn without a call allocates, traced in a separate run; 256 KiB of the peak are the read "
        "buffer of asyncio."
    ),
    "50 at once, traced": "Memory of each of fifty concurrent conversations, at its peak and afterwards.",
    "idle conversations": (
        "Memory of each idle conversation of one turn: 10,000 of ours, 2,000 of others. The share of Home Assistant "
        "alone is part of every agent's."
    ),
    "start": "Import in a fresh process that has loaded Home Assistant; set-up in a fresh Home Assistant.",
}
_TOKENS: Final = """\
## Tokens before the first word

Our agent and that of `llama_cpp`, recorded in a real Home Assistant and replayed by `script/first_word --publish`
against a real llama.cpp server: one slot, one thread, a small random model with a real vocabulary. Counted are the
tokens that the server says it has read; the others were in its cache. The warm-up is the reading before anyone speaks.
The home of `script/demo` has 50 entities of many kinds; eight such homes in one have 400, each with names of its own
(`bench/side_by_side/street.toml`). The other two homes have six kinds of things with the same twelve names in each
room, and so few tools.

In a conversation that goes on, core's agent reads less: ours tells the time again, and what was renamed. When another
room takes turns, too: two conversations of ours begin alike, so the server keeps one and reads the rest of the other
again, while those of core's agent differ from their beginning, and it keeps both as long as they fit.
"""
PLOTS: Final[Mapping[str, tuple[str, str, Measure, str]]] = {
    "cpu-plain": (
        "CPU per turn without a call, 300 entities",
        "plain, converse",
        "cpu_ms",
        "ms",
    ),
    "cpu-tool": (
        "CPU per turn with one call, 300 entities",
        "tool, converse",
        "cpu_ms",
        "ms",
    ),
    "first-delta": (
        "Time to the first delta above the server's own, 300 entities",
        "plain, converse",
        "first_ms",
        "ms",
    ),
    "prompt-tokens": (
        "Tokens of the first prompt with tools, 300 entities",
        "first request",
        "prompt_tokens",
        "",
    ),
}
"""Bars by the names of their files: title, scenario, measure, unit."""
LINES: Final[Mapping[str, tuple[str, Sequence[tuple[str, str, int]], Measure, str]]] = {
    "cpu-homes": (
        "CPU per turn without a call, by exposed entities",
        [(f"{size:,}", "plain, converse", size) for size in SIZES],
        "cpu_ms",
        "ms",
    ),
    "cpu-conversation": (
        "CPU of a turn, by its number in the conversation",
        [(turn, f"turn {turn}", targets.SMALL) for turn in ("1", "10", "50", "100")],
        "cpu_ms",
        "ms",
    ),
}
"""Lines by the names of their files: title; label, scenario and entities of each point; measure, unit."""
_HOW: Final = """\
All agents run in one real Home Assistant, with a home that exposes so many entities to Assist, of six kinds.
Each agent is set up as through its dialogs, with default settings, except that ours also sends its model the requests
that it handles locally by default. The model server is a separate process that speaks Chat Completions, Responses,
Messages and Ollama's format. The agents alternate, A B C, then C B A, and each has three turns first that do not
count. Nothing is logged. Of the nine agents of Home Assistant that ask a model, six take part; `cloud`,
`google_generative_ai_conversation` and `ovhcloud_ai_endpoints` do not.

CPU is the processor time of the whole Home Assistant process for one turn, less its idle time, until everything that
the turn caused is done and stored, including deferred work: each turn counts as if it were followed by silence.
Before each turn, garbage is collected and the living objects are frozen, so that no turn pays for a full collection.
The time to the first delta runs from the moment at which the agent receives the sentence, less the time that the
server takes from the request to its first token; text that an agent holds back counts as delay.

The bare client sends the request of `llama_cpp` and reads the stream with `aiohttp`. "Home Assistant alone" is an
agent that sends the same bytes, passes each fragment on as it arrives and has Home Assistant run the calls: no
prompt, no history. `litellm` does not stream: its first words arrive with the last. Each figure is
a median, with its quartiles in brackets; if several processes measured the same, it is the median of theirs, with the
lowest and the highest.
"""


_PROFILED: Final[Mapping[str, str]] = {
    "first words": "A turn until its first words",
    "plain": "A turn without a call",
    "tool": "A turn with one call",
}
_SHOWN: Final = 0.05
"""Least milliseconds of a turn for which a module is named."""
_PROFILES: Final = """\
## Where the time goes

Sampling profiles of our agent alone in a Home Assistant. A sample counts for the innermost module of ours or of Home
Assistant on the stack, including the libraries that it calls. The profile of the first words samples by the clock, up
to five thousand times a second: it includes the time of the server, and its overhead makes all times longer than in
the tables below. The profiles of whole turns sample by processor time, some hundred times a second, until 15 seconds
after the last turn.
"""


def write_page(results: Results, folder: str, tokens: str = "") -> str:
    """Return the page; its plots are in `folder`, relative to it. `tokens` are the tables of `script/first_word`."""
    drawn = draw_plots(results)
    titles = {name: title for name, (title, *_) in (*PLOTS.items(), *LINES.items())}
    return "\n".join(
        (
            "# Speed, tokens and memory compared with core's agents\n",
            "This page is written by `script/bench`; do not edit it.\n",
            _machine(results),
            _HOW,
            "## Targets\n",
            target_table(results),
            *_failures(results),
            _TOKENS,
            f"{tokens}\n",
            *(
                f"![{title}]({folder}/{name}.svg)\n"
                for name, title in titles.items()
                if name in drawn
            ),
            *_where_time_goes(results),
            *_sections(results),
        )
    )


def draw_plots(results: Results) -> dict[str, str]:
    """Return the plots by the names of their files, without those that were not measured."""
    drawn = {}
    for name, (title, scenario, measure, unit) in PLOTS.items():
        if values := _medians(results, scenario, targets.LARGE, measure):
            drawn[name] = plots.bars(title, unit, values, targets.OURS)
    for name, (title, places, measure, unit) in LINES.items():
        columns = [
            _medians(results, scenario, size, measure) for _, scenario, size in places
        ]
        labels = [
            label for (label, *_), column in zip(places, columns, strict=True) if column
        ]
        measured = [column for column in columns if column]
        agents = [
            agent
            for agent in _agents(results)
            if all(agent in column for column in measured)
        ]
        if len(measured) > 1:
            values_of = {
                agent: [column[agent] for column in measured] for agent in agents
            }
            drawn[name] = plots.lines(title, unit, labels, values_of, targets.OURS)
    return drawn


def _medians(
    results: Results, scenario: str, entities: int, measure: Measure
) -> dict[str, float]:
    """Return the medians of all agents that were measured."""
    found = {
        agent: results.find(scenario, entities, agent, measure)
        for agent in _agents(results)
    }
    return {agent: figure.median for agent, figure in found.items() if figure}


def target_table(results: Results) -> str:
    """Return the table of the targets."""
    met = {True: "yes", False: "no", None: ""}
    rows = [
        (row.measure, row.measured, row.target, met[row.met])
        for row in targets.check(results)
    ]
    return _table(("measure", "measured", "target", "met"), rows)


def _machine(results: Results) -> str:
    machine = results.machine
    versions = ", ".join(
        f"{name} {version}" for name, version in machine.versions.items()
    )
    before, meanwhile = (
        f"{machine.others_before:.0%}",
        f"{machine.others_meanwhile:.0%}",
    )
    used = f"Other processes used {before} of the machine before the run, {meanwhile} during it"
    others = used if machine.was_quiet else f"**{used}: do not trust these times**"
    return (
        f"Measured on {machine.date}: {machine.processor}, {machine.cores} cores, {machine.system}, "
        f"Python {machine.python}; {versions}. {others}."
        f"{' Medians of few samples.' if machine.quick else ''}\n"
    )


def _failures(results: Results) -> Iterator[str]:
    if results.failed:
        yield "## Not measured\n"
        yield (
            "\n".join(
                f"- {failure.strip().splitlines()[0]}" for failure in results.failed
            )
            + "\n"
        )


def _where_time_goes(results: Results) -> Iterator[str]:
    if results.profiles:
        yield _PROFILES
    for profile in sorted(
        results.profiles, key=lambda one: (one.scenario, one.entities)
    ):
        yield (
            f"{_PROFILED[profile.scenario]}, {profile.entities} exposed entities: "
            f"{profile.ms:.2f} ms in all, {profile.samples} samples.\n"
        )
        rows = [
            (
                part.name,
                f"{part.cost:.2f}",
                f"{part.cost / profile.ms:.0%}",
                _dearest(part),
            )
            for part in parts_of(profile.parts)
        ]
        yield _table(("part", "ms", "share", "mainly"), rows)


def _dearest(part: Part) -> str:
    return ", ".join(
        f"{module} {cost:.2f}" for module, cost in part.dearest if cost >= _SHOWN
    )


def _sections(results: Results) -> Iterator[str]:
    for scenario, meaning in _SCENARIOS.items():
        sizes = sorted(
            {
                figure.entities
                for figure in results.figures
                if figure.scenario == scenario
            }
        )
        if sizes:
            yield f"## {scenario[0].upper()}{scenario[1:]}\n\n{meaning}\n"
        for entities in sizes:
            if entities:
                yield f"{entities:,} exposed entities:\n"
            yield _figures(results, scenario, entities)


def _figures(results: Results, scenario: str, entities: int) -> str:
    chosen = [
        figure
        for figure in results.figures
        if (figure.scenario, figure.entities) == (scenario, entities)
    ]
    measures = [
        measure
        for measure in _TITLES
        if any(figure.measure == measure for figure in chosen)
    ]
    rows = []
    for agent in _agents(results):
        found = [
            results.find(scenario, entities, agent, measure) for measure in measures
        ]
        if any(found):
            cells = [
                f"{_number(f.median)} [{_number(f.low)}, {_number(f.high)}]"
                if f
                else ""
                for f in found
            ]
            rows.append(
                (
                    agent,
                    *(
                        cell.partition(" [")[0] if f and f.samples == 1 else cell
                        for f, cell in zip(found, cells, strict=True)
                    ),
                )
            )
    return _table(("agent", *(_TITLES[measure] for measure in measures)), rows)


def _agents(results: Results) -> list[str]:
    """Return the agents, ours first and the bare client last."""
    names = list(dict.fromkeys(figure.agent for figure in results.figures))
    return sorted(
        names,
        key=lambda name: (name == targets.BARE, not name.startswith(targets.OURS)),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004  # three digits are enough


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
