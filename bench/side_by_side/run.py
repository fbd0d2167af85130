"""A run of the benchmark: workers are started, watched and ended; what they measured is gathered.

Knows that a job may fail, hang or be late, and that the others go on all the same; must
not know what is measured.
"""

import asyncio
import statistics
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bench.side_by_side.jobs import Job, Plan
from bench.side_by_side.machine import Watch
from bench.side_by_side.results import MEASURED, RESTS, Figure, Profile
from demo.configuration import REPOSITORY

WORKER: Final = (sys.executable, "-m", "bench.side_by_side.worker")
_BEGIN: Final = 1980.0
"""Seconds after which nothing is begun any more."""
_OVER: Final = 2070.0
"""Seconds after which everything has ended, done or not."""
_TIMEOUT: Final = 300.0
"""Seconds for which it is waited until what goes on beside the others only waits."""
_TIME: Final = "time"
"""The beginning of the reason of a failure for which there was too little of something."""
_TO_END: Final = 10.0
"""Seconds that a worker has to end when it is told to."""
_LAST_WORDS: Final = 2000
"""Characters of what a worker said before it failed that are told."""
_LINE: Final = 16 * 1024**2


class Run:
    """One run, as long as it lasts and afterwards."""

    def __init__(
        self, tell: Callable[[str], None], worker: Sequence[str] = WORKER
    ) -> None:
        """Take who is told what goes on, and how a worker is started."""
        self._tell = tell
        self._worker = worker
        self._began = time.monotonic()
        self._measured: list[Figure] = []
        self.watch = Watch.begin()
        self.profiles: list[Profile] = []
        self.failed: list[str] = []

    async def follow(self, plan: Plan) -> None:
        """Do what is planned."""
        async with asyncio.TaskGroup() as beside:
            resting = []
            for job in plan.beside:
                resting.append(asyncio.Event())
                beside.create_task(self._try(job, resting[-1]))
            for together in plan.meanwhile:
                await self._at_once(together)
            await self._wait_for(resting)
            for together in plan.then:
                await self._at_once(together)

    def figures(self) -> tuple[Figure, ...]:
        """Return what was measured; one figure where several processes measured the same."""
        return tuple(merged(self._measured))

    async def _wait_for(self, resting: Sequence[asyncio.Event]) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                for rests in resting:
                    await rests.wait()
        except TimeoutError:
            self._tell(
                "what should only wait by now is still at work: the times are not to be trusted"
            )
            self.failed.append("to measure times while nothing else goes on")

    async def _at_once(self, together: Sequence[Job]) -> None:
        await asyncio.gather(*(self._try(job, asyncio.Event()) for job in together))

    async def _try(self, job: Job, rests: asyncio.Event) -> None:
        """Do a job, once more when it breaks; what was too slow or too late will be so again. Tell when it fails."""
        try:
            failure = await self._do(job, rests)
            if failure is not None and not failure.startswith(_TIME):
                self._tell(f"{' '.join(job.arguments)}: {failure} Once more:")
                failure = await self._do(job, rests)
            if failure is not None:
                self._tell(f"{' '.join(job.arguments)}: {failure}")
                self.failed.append(f"{' '.join(job.arguments)}: {failure}")
        finally:
            rests.set()

    async def _do(self, job: Job, rests: asyncio.Event) -> str | None:
        """Do a job; return why it failed, None when it did not."""
        gone = time.monotonic() - self._began
        if gone > _BEGIN:
            return f"{_TIME}: none was left for it."
        self._tell(f"{gone:5.0f} s  {' '.join(job.arguments)}")
        process = await asyncio.create_subprocess_exec(
            *(*self._worker, *job.arguments),
            cwd=REPOSITORY,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE,
        )
        limit = min(job.limit, _OVER - gone)
        try:
            async with asyncio.timeout(limit):
                return await self._read(process, rests)
        except TimeoutError:
            return f"{_TIME}: it took longer than {limit:.0f} s."
        finally:
            await _end(process)
            self._tell(
                f"{time.monotonic() - self._began:5.0f} s  over: {' '.join(job.arguments)}"
            )

    async def _read(self, process: Process, rests: asyncio.Event) -> str | None:
        """Read what a worker says until it ends."""
        if process.stdout is None or process.stderr is None:
            raise RuntimeError("a worker was started without outputs to read")
        complaints = asyncio.create_task(process.stderr.read())
        words = b""
        async for line in process.stdout:
            if line.decode().strip() == RESTS:
                rests.set()
            words = line
        complained = (await complaints).decode(errors="replace")[-_LAST_WORDS:]
        if await process.wait():
            return f"it ended with status {process.returncode}: {complained}"
        try:
            measured = MEASURED.validate_json(words)
        except ValueError as wrong:
            return f"what it said is no measurement: {wrong}"
        self._measured += [one for one in measured if isinstance(one, Figure)]
        self.profiles += [one for one in measured if isinstance(one, Profile)]
        return None


async def _end(process: Process) -> None:
    """End a worker that is still there: ask first, so that it stops its server."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_TO_END):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def merged(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Make one figure of those that were measured several times, in processes of their own."""
    same: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        same.setdefault(
            (figure.scenario, figure.entities, figure.agent, figure.measure), []
        ).append(figure)
    for many in same.values():
        medians = [figure.median for figure in many]
        spread = {
            "median": statistics.median(medians),
            "low": min(medians),
            "high": max(medians),
            "samples": len(many),
        }
        yield many[0] if len(many) == 1 else many[0].model_copy(update=spread)
