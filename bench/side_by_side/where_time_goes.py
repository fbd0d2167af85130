"""Where the time of one agent's turns goes, by the module at work: sampling profiles.

Of its processor time, the main thread is looked at whenever the process has used some
milliseconds; what other threads use is counted by the system. Of the time to the first
words, it is looked at by the clock. Must not know what a module is for.
"""

import asyncio
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Final

from bench.side_by_side.model_server import Plan
from bench.side_by_side.results import Profile
from bench.side_by_side.setting import TURN_ON, Setting, clear_away, flush, idle_share
from bench.side_by_side.turns import TimedTurn, converse

_EVERY: Final = 0.001
"""Seconds of a processor between two looks; a system may look less often."""
_FIRST: Final = 5
"""Turns that are not looked at."""
_PUT_OFF: Final = 15.0
"""Seconds for which it is waited after all turns, so that what an agent does later by a clock counts too."""
_THREADS: Final = Path("/proc/self/task")
_NETWORK: Final = "asyncio, aiohttp and all else without one of the above"
_WAITING: Final = "select"
_EVERY_BY_THE_CLOCK: Final = 0.0002
"""Seconds between two looks on the way to the first words, which are there soon."""
_SERVER: Final = "the server and other waits"


async def measure_where_time_goes(setting: Setting) -> list[Profile]:
    """Look at turns in words and turns with one call of the first agent; as many as the extent has rounds."""
    plain = Plan(per_second=setting.extent.per_second)
    return [
        await _profile(setting, "plain", plain),
        await _profile(setting, "tool", plain.model_copy(update={"calls": (TURN_ON,)})),
    ]


async def measure_first_words(setting: Setting) -> list[Profile]:
    """Look at what turns of the first agent do before their first words; as many as the extent has rounds."""
    agent, turns = setting.agents[0], setting.extent.rounds
    await setting.server.plan(Plan(fragments=1))
    for _ in range(_FIRST):
        await converse(setting.hass, agent, TimedTurn())
    seen: dict[str, float] = defaultdict(float)
    seconds, samples = 0.0, 0
    for _ in range(turns):
        await flush(setting.hass)
        clear_away()
        looks: list[tuple[float, str]] = []
        try:
            _look_by_the_clock(looks)
            heard = await converse(setting.hass, agent, TimedTurn())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        seconds += heard.first - heard.began
        before = heard.began
        for at, part in looks:
            if (
                before <= at <= heard.first
            ):  # a look is as late as the call of C is long that it has to wait for
                seen[part] += at - before
                before, samples = at, samples + 1
    each = seconds * 1000 / turns
    profile = Profile(
        scenario="first words",
        entities=setting.entities,
        agent=agent.name,
        ms=each,
        parts={},
        samples=samples,
    )
    return [_summed_up(profile, seen, {threading.main_thread().name: each})]


async def _profile(setting: Setting, scenario: str, plan: Plan) -> Profile:
    agent, turns = setting.agents[0], setting.extent.rounds
    await setting.server.plan(plan)
    for _ in range(_FIRST):
        await converse(setting.hass, agent, TimedTurn())
    await flush(setting.hass)
    idle = await idle_share(1)
    clear_away()
    seen: Counter[str] = Counter()
    before, began = _threads(), time.monotonic()
    try:
        _look(seen)
        for _ in range(turns):
            await converse(setting.hass, agent, TimedTurn())
            await flush(setting.hass)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    await asyncio.sleep(_PUT_OFF)
    used = {name: value - before.get(name, 0) for name, value in _threads().items()}
    used[threading.main_thread().name] -= idle * (time.monotonic() - began)
    return _summed_up(
        Profile(
            scenario=scenario,
            entities=setting.entities,
            agent=agent.name,
            ms=sum(used.values()) * 1000 / turns,
            parts={},
            samples=seen.total(),
        ),
        seen,
        {name: value * 1000 / turns for name, value in used.items()},
    )


def _summed_up(
    profile: Profile, seen: Mapping[str, float], used: dict[str, float]
) -> Profile:
    """Share the main thread's milliseconds out as it was seen, and add the other threads'."""
    main = used.pop(threading.main_thread().name)
    whole = sum(seen.values())
    parts = {name: main * share / whole for name, share in seen.items()}
    parts |= {f"thread {name}": value for name, value in used.items()}
    dearest = sorted(parts.items(), key=lambda part: -part[1])
    return profile.model_copy(update={"parts": dict(dearest)})


def _look(seen: Counter[str]) -> None:
    """Begin to look where the main thread is, as often as the process uses the processor."""

    def note(_number: int, frame: FrameType | None) -> None:
        if frame and frame.f_code.co_name != _WAITING:
            seen[_part(frame)] += 1

    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)


def _look_by_the_clock(looks: list[tuple[float, str]]) -> None:
    """Begin to look where the main thread is, and when, on the monotonic clock; also while it waits."""

    def note(_number: int, frame: FrameType | None) -> None:
        is_waiting = frame is not None and frame.f_code.co_name == _WAITING
        looks.append((time.monotonic(), _SERVER if is_waiting else _part(frame)))

    signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, _EVERY_BY_THE_CLOCK, _EVERY_BY_THE_CLOCK)


def _part(frame: FrameType | None) -> str:
    """Return the innermost module at work that is ours or Home Assistant's."""
    while frame:
        module = str(frame.f_globals.get("__name__", ""))
        package, _, rest = module.partition(".")
        if package == "custom_components":
            return rest
        if package == "homeassistant":
            return f"Home Assistant: {'.'.join(rest.split('.')[:2])}"
        if package == "bench":
            return "the benchmark, which listens"
        frame = frame.f_back
    return _NETWORK


def _threads() -> dict[str, float]:
    """Return the seconds of a processor that threads have used, those of a pool together."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    used: dict[str, float] = defaultdict(float)
    for task in _THREADS.iterdir():
        name = names.get(int(task.name), "others").rstrip("0123456789").rstrip("_-")
        used[name] += (
            int((task / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9
        )
    return dict(used)
