"""Kills a home at random moments and looks what is left each time.

Knows what has to hold; must not know how it is found out.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.behaviour.durability.kept_talk import is_whole, kept_in, turns_of
from tests.behaviour.durability.killed_home import SCRIPT, KilledHome, Talk
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving

LONGEST = 2.0
"""Seconds of talk before a kill, at most: about as many turns of each person."""


@dataclass(slots=True)
class Findings:
    """The findings in all."""

    kills: int = 0
    talk: Talk = field(default_factory=Talk)
    cut_off: int = 0
    """Sentences that were on their way when Home Assistant was killed."""
    stored: int = 0
    """Sentences that are stored, answered or not."""
    damaged: list[str] = field(default_factory=list)
    """The verdict of SQLite on a file that is not whole."""
    lost: list[str] = field(default_factory=list)
    """Sentences that were answered, and are not stored."""
    doubled: list[str] = field(default_factory=list)
    """Sentences that are stored more than once."""
    requests: int = 0
    """That the model was sent."""
    orphans: int = 0
    """Requests with a call without its result, or a result without its call."""
    longest: int = 0
    """Turns of the longest conversation that the model was sent."""

    @property
    def all_hold(self) -> bool:
        """Whether nothing is damaged, lost, doubled or an orphan."""
        return not (
            self.damaged
            or self.lost
            or self.doubled
            or self.orphans
            or self.talk.failed
        )


async def kill_often(
    folder: Path, kills: int, seed: int, tell: Callable[[Findings], None]
) -> Findings:
    """Kill a home so often, each time within `LONGEST` seconds of talk; `tell` is called after each."""
    moments = random.Random(seed)  # noqa: S311  # moments, not secrets
    found = Findings()
    server = ScriptedChatCompletions(SCRIPT)
    async with serving(server.application()) as address:
        home = await KilledHome.set_up(folder, address)
        for kill in range(kills):
            is_last = kill == kills - 1  # something has to be answered in the end
            await home.talk_until_killed(
                found.talk, moments.uniform(0, LONGEST), after_an_answer=is_last
            )
            found.kills += 1
            await asyncio.to_thread(_look, home, found)
            tell(found)
        await home.talk(found.talk)
        await asyncio.to_thread(_look, home, found)
    bodies = [request.body for request in server.requests]
    found.requests, found.longest = len(bodies), turns_of(bodies)
    found.orphans = sum(not is_whole(body) for body in bodies)
    return found


def _look(home: KilledHome, found: Findings) -> None:
    remaining = kept_in(home.database)
    if remaining.integrity != "ok":
        found.damaged.append(remaining.integrity)
    found.lost = [
        words for words in found.talk.answered if not remaining.sentences[words]
    ]
    found.doubled = [words for words, times in remaining.sentences.items() if times > 1]
    found.stored = remaining.sentences.total()
    found.cut_off = (
        len(found.talk.sentences) - len(found.talk.answered) - len(found.talk.failed)
    )
