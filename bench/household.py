"""The turns of a household of three people, always the same ones, and what is looked for in them.

They say the same few things in the morning and a sentence of their own now and then, in
four languages. Knows what the history stores. Must not know a store, or a clock.
"""

import base64
import random
from typing import Final

from custom_components.chatterbox.agent.events import Phase, StopReason
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.history.store.query import HistoryQuery
from custom_components.chatterbox.history.store.records import (
    PhaseTime,
    ResponseRecord,
    StoredTurn,
    TurnOrigin,
    answered_in,
    said_in,
)

AGENT: Final = "agent"
"""Whose turns they are."""

_BEGAN_AT: Final = 1_790_000_000.0
_EVERY: Final = 300.0
"""Seconds between two turns: about a year in all."""
_PEOPLE: Final = ("ann", "ben", "eve")
_SHARES: Final = (70, 25, 5)
"""Of the turns, in percent."""
_DAILY: Final = (
    "Turn on the light in the kitchen.",
    "What is the weather like tomorrow?",
    "Mach das Licht im Schlafzimmer aus.",
    "Stelle die Heizung auf einundzwanzig Grad.",
    "Allume la lampe du salon, s'il te plaît.",
    "打开厨房的灯。",
)
_ANSWERS: Final = (
    "The light in the kitchen is on.",
    "Tomorrow it is going to be sunny, with up to twenty degrees and a light wind from the west.",
    "Das Licht im Schlafzimmer ist aus.",
    "好的,厨房的灯打开了。",
)
# fmt: off
_SYLLABLES: Final = (
    "ba", "lo", "mi", "ter", "kan", "su", "re", "gol", "fen", "da", "pi", "wor", "tu", "sha", "ny", "ek",
)
# fmt: on


class Household:
    """Makes turns; always the same ones."""

    def __init__(self) -> None:
        """Begin."""
        self._chance = random.Random(1)  # noqa: S311  # turns, not secrets
        self._words = [
            "".join(self._chance.choices(_SYLLABLES, k=self._chance.randint(2, 4)))
            for _ in range(20_000)
        ]
        self._weights = [1 / rank for rank in range(1, len(self._words) + 1)]

    def turn(self, number: int) -> StoredTurn:
        """Return a turn; five make a conversation."""
        origin = TurnOrigin(
            conversation_id=f"talk {number // 5}",
            agent=AGENT,
            person_id=self._chance.choices(_PEOPLE, _SHARES)[0],
            device_id="kitchen",
            language="en",
        )
        return StoredTurn(
            id=f"turn {number}",
            origin=origin,
            began_at=_BEGAN_AT + number * _EVERY,
            duration=2.0,
            messages=self._transcript(number),
            stop_reason=StopReason.COMPLETED,
            iterations=2,
            phases=tuple(PhaseTime(phase, 0.1) for phase in Phase),
            timings={
                "first_words": 0.8,
                "inferences": [{"seconds": 0.7, "model": "a-model"}],
            },
        )

    def _transcript(self, number: int) -> Transcript:
        if number % 3:
            words = " ".join(
                self._chance.choices(
                    self._words, self._weights, k=self._chance.randint(3, 30)
                )
            )
            answer = " ".join(
                self._chance.choices(
                    self._words, self._weights, k=self._chance.randint(5, 60)
                )
            )
            return UserMessage(
                f"{words} in the house", context="It is noon."
            ), AssistantMessage(f"The {answer}.")
        call = ToolCall(
            "call", "assist__HassTurnOn", '{"area":"Kitchen","domain":["light"]}'
        )
        return (
            UserMessage(self._chance.choice(_DAILY), context="It is noon."),
            AssistantMessage(tool_calls=(call,)),
            ToolResult(
                "call",
                call.name,
                '{"success":[{"name":"Ceiling","id":"light.ceiling"}]}' * 16,
            ),
            AssistantMessage(self._chance.choice(_ANSWERS)),
        )

    def response(self, number: int, chain: str, picture: bytes = b"") -> ResponseRecord:
        """Return a response; a hundred make a chain."""
        turn = self.turn(number)
        attachments = (Attachment("image/png", picture),) if picture else ()
        parts: list[JsonValue] = [
            {"type": "input_text", "text": said_in(turn.messages)}
        ]
        if picture:
            url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
            parts.append({"type": "input_image", "detail": "auto", "image_url": url})
        output: list[JsonValue] = [
            {
                "type": "output_text",
                "annotations": [],
                "text": answered_in(turn.messages),
            }
        ]
        return ResponseRecord(
            id=f"{chain} {number}",
            agent=AGENT,
            model="conversation.kitchen",
            user_id=turn.origin.person_id or "",
            person_id=turn.origin.person_id,
            conversation_id=chain,
            previous_response_id=f"{chain} {number - 1}" if number else None,
            created_at=turn.began_at,
            response={
                "id": f"{chain} {number}",
                "status": "completed",
                "output": output,
                "usage": {},
                "tools": [],
            },
            input=(
                {
                    "type": "message",
                    "id": f"msg {number}",
                    "role": "user",
                    "content": parts,
                },
            ),
            messages=(
                UserMessage(said_in(turn.messages), attachments),
                *turn.messages[1:],
            ),
        )

    def query(self, number: int) -> HistoryQuery:
        """Return something to look for."""
        common, rare = self._words[number % 10], self._words[500 + number]
        words = (
            "the light",
            "in the house",
            common,
            f"{common} {rare}",
            rare,
            f"{rare} nowhere {rare[:3]}",
            "schlafzimmer",
            "厨房的灯",
            "what did I say about the weather last week",
            "xyzzy",
            "",
        )
        since = self._chance.choice((None, _BEGAN_AT, _BEGAN_AT + 10_000 * _EVERY))
        until = self._chance.choice((None, _BEGAN_AT + 20_000 * _EVERY))
        return HistoryQuery(
            words=words[number % len(words)],
            person_id=self._chance.choices(_PEOPLE, (1, 1, 1))[0],
            agent=self._chance.choice((None, AGENT)),
            since=since,
            until=until,
        )
