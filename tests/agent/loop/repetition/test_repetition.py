"""A model that does nothing but repeat itself is ended, and no song, list, table or prayer is taken for that."""

import json
import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import chain, cycle, repeat
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.repetition import RepetitionFilter
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolCall,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    LeavableProvider,
    OutputFormat,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import collect, finished, results, spoken
from tests.support.doubles import (
    ScriptedCensor,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    say,
    tool,
)
from tests.support.thorough import some_examples

REPOSITORY = Path(__file__).parents[4]
TURN = Turn("Light!", tools=(tool("light_on"), tool("look", read_only=True)))
LIGHT = ToolCallReady(ToolCall("1", "light_on", "{}"))

SONGS = {
    "en": "Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily, merrily,\nLife is a dream.\n",
    "de": "Bruder Jakob, Bruder Jakob,\nschläfst du noch? Schläfst du noch?\nHörst du nicht die Glocken?\nDing dong!\n",
    "fr": "Frère Jacques, frère Jacques,\nDormez-vous ? Dormez-vous ?\nSonnez les matines !\nDing, dang, dong.\n",
    "es": "Ay, ay, ay, ay,\ncanta y no llores,\nporque cantando se alegran,\ncielito lindo, los corazones.\n",
    "it": "Fra Martino, campanaro,\ndormi tu? Dormi tu?\nSuona le campane!\nDin, don, dan.\n",
    "nl": "Vader Jacob, vader Jacob,\nslaapt gij nog? Slaapt gij nog?\nAlle klokken luiden!\nBim, bam, bom.\n",
    "pl": "Panie Janie, panie Janie,\npora wstać! Pora wstać!\nWszystkie dzwony biją:\nBim, bam, bom.\n",
    "pt": "Atirei o pau no gato-to,\nmas o gato-to não morreu-reu-reu.\nMiau!\n",
    "sv": "Broder Jakob, broder Jakob,\nsover du? Sover du?\nHör du inte klockan?\nDing, ding, dong.\n",
    "zh": "两只老虎,两只老虎,跑得快,跑得快。一只没有耳朵,一只没有尾巴,真奇怪!真奇怪!\n",
}
AVE = (
    "Ave Maria, gratia plena, Dominus tecum. Benedicta tu in mulieribus, et benedictus fructus ventris tui, Iesus. "
    "Sancta Maria, Mater Dei, ora pro nobis peccatoribus, nunc et in hora mortis nostrae. Amen.\n"
)
HOURS = "".join(f"| {hour:02}:00 | off | off | 0.0 |\n" for hour in range(24))
REAL = {
    **{f"a canon in {language}": song * 9 for language, song in SONGS.items()},
    "a decade of the rosary": f"Pater noster.\n{AVE * 10}Gloria Patri.",
    "forty times": "Kyrie eleison. " * 40,
    "a coda": "La la la, lalalala, lalalala, here it is. " * 18,
    "bottles": "".join(
        f"{n} bottles of beer on the wall, {n} bottles of beer.\n"
        for n in range(99, 0, -1)
    ),
    "counting": ", ".join(map(str, range(1, 1_001))),
    "counting in words": "one, two, three, four, " * 10,
    "multiplication": "\n".join(
        f"{a} x {b} = {a * b}" for a in range(1, 11) for b in range(1, 11)
    ),
    "times": " ".join(
        f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(0, 60, 5)
    ),
    "a table": f"| time | light | fan | power |\n|{'---|' * 4}\n{HOURS * 7}",
    "a wide table": f"|{' a |' * 60}\n|{':---:|' * 60}\n|{' |' * 60}\n",
    "an empty plan": f"|{'       |' * 8}\n" * 10,
    "a list": "".join(f"- The light in room {room} is off.\n" for room in range(200)),
    "hours of a week": json.dumps([0.0] * 168),
    "JSON": json.dumps(
        [
            {"name": f"Light {n}", "state": "off", "brightness": None}
            for n in range(100)
        ],
        indent=2,
    ),
    "a week of null": json.dumps({"schedule": [None] * 168}),
    "a week of false": json.dumps({"schedule": [False] * 168}),
    "a week of numbers in lines": json.dumps({"t": [0.0] * 168}, indent=2),
    "a week of words": json.dumps({"hours": ["off"] * 168}),
    "a grid in Python": f"grid = [\n{f'    [{", ".join(["0"] * 20)}],\n' * 20}]\n",
    "an empty month": f"| day | a | b |\n|---|---|---|\n{'|     |          |          |          |\n' * 31}",
    "HTML": f"<table>{f'<tr>{"<td></td>" * 7}</tr>\n' * 24}</table>",
    "CSV": "0,0,0,0,0,0,0,0\n" * 96,
    "CSV with words": "living room,off,off,0\n" * 168,
    "YAML": "- state: off\n  brightness: 0.5\n" * 168,
    "CSS": "0 0 0 0 " * 200,
    "emoji": ("\N{WHITE LARGE SQUARE}" * 24 + "\n") * 24 + "end",
    "a mantra": "Om mani padme hum. " * 108,
    "a Chinese mantra": "南無阿弥陀仏。" * 108,
    "a Russian prayer": "Господи, помилуй. " * 100,
    "breathing": "Breathe in. Breathe out. " * 50,
    "a line fifty times": "I will not talk in class, and I will listen to others.\n"
    * 50,
    "a line a hundred times": "I will not talk in class.\n" * 100,
    "laughter": "Ha" * 100 + "!",
    "rules": f"One\n{'-' * 120}\nTwo\n{'=' * 120}\n{'.' * 400}",
}
SENTENCES = {
    "a sentence": "I'm sorry, I can't help with that. ",
    "a line": "The light is on again.\n",
    "two sentences": "Is there anything else? I am happy to help you. ",
    "several sentences that begin alike": "I see. I am a lamp. I am on. I see a lamp. ",
    "German": "Das Licht ist jetzt an. ",
    "Chinese": "我是一个智能助手。",
    "Hindi": "बत्ती चालू है। ",
    "a paragraph": "".join(
        f"The light in room {room} is off, and so is its fan. " for room in range(12)
    ),
}
OTHER_LOOPS = {
    "a cry": "Hm. ",
    "words": "very ",
    "one character": "a",
    "line ends": "\n",
    "tokens": "<|x|>",
    "emoji": "\N{GRINNING FACE}",
    "JSON": '{"x": 0, "y": 0}, ',
    "a table": "| 00:00 | The light is off. | 0.0 |\n",
}


def heard(
    pieces: Iterable[str], most: int = 1_000_000, seconds: float = 0
) -> tuple[str, bool, int]:
    """Return what a filter passes on, whether it has found a repetition, and after how many characters.

    Each piece arrives some `seconds` after the one before.
    """
    clock = ManualClock()
    repetition, words, parsed = RepetitionFilter(clock), "", 0
    for piece in pieces:
        clock.advance(seconds)
        words += repetition.feed(piece)
        parsed += len(piece)
        if repetition.found or parsed > most:
            break
    return words + repetition.end(), repetition.found, parsed


@pytest.mark.parametrize("text", REAL.values(), ids=REAL)
def test_real_texts_come_whole(text: str) -> None:
    assert heard([text])[:2] == (text, False)


def test_nothing_that_was_recorded_or_written_here_is_taken_for_repetition(
    pytestconfig: pytest.Config,
) -> None:
    paths = [
        path
        for folder in (
            "docs",
            "tests/fixtures",
            "custom_components/chatterbox/translations",
            "tests/agent/loop",
        )
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in {".md", ".json", ".jsonl", ".sse", ".py", ".yaml", ".csv"}
    ]
    assert len(paths) > 100
    if not pytestconfig.option.thorough:
        paths = sorted(paths)[::4]

    assert [
        path for path in paths if heard([path.read_text("utf-8", "replace")])[1]
    ] == []


def typed(text: str) -> Iterable[str]:
    """Return a text as a slow server sends it: four characters, a fifth of a second."""
    return (text[start : start + 4] for start in range(0, len(text), 4))


@pytest.mark.parametrize(
    "unit", [*SENTENCES.values(), "very ", "a", "\n", "\N{GRINNING FACE}"]
)
def test_a_loop_of_a_slow_server_ends_in_seconds(unit: str) -> None:
    words, found, parsed = heard(typed(f"Sure! {unit * 1_000}"), seconds=0.2)

    assert found
    assert parsed <= max(160, 3 * len(unit)) + 60
    assert f"Sure! {unit * 100}".startswith(words)


@pytest.mark.parametrize(
    "text",
    [
        *(song * 2 for song in SONGS.values()),
        "".join(f"Verse {n} is here.\n{SONGS['en'] * 2}" for n in range(4)),
        "Ha ha ha ha ha ha! La la la la la la la la, tick, tock, tick, tock, tick, tock.",
        REAL["a list"][:2_000],
        REAL["a table"][:2_000],
        REAL["an empty plan"],
        REAL["an empty month"],
        REAL["counting in words"][:100],
    ],
)
def test_refrains_lists_and_tables_of_a_slow_server_come_whole(text: str) -> None:
    assert heard(typed(text), seconds=0.2)[:2] == (text, False)


def test_a_decade_of_the_rosary_comes_whole_at_a_hundred_tokens_a_second() -> None:
    assert heard(typed(REAL["a decade of the rosary"]), seconds=0.01)[:2] == (
        REAL["a decade of the rosary"],
        False,
    )


@pytest.mark.parametrize("prefix", ["", "Sure! Here you are: ", "One. Two.\n\n"])
@pytest.mark.parametrize(
    ("unit", "characters"),
    [
        *((unit, 3_000) for unit in SENTENCES.values()),
        *((unit, 20_000) for unit in OTHER_LOOPS.values()),
    ],
    ids=[*SENTENCES, *OTHER_LOOPS],
)
def test_a_loop_is_found_and_heard_once(
    unit: str, characters: int, prefix: str
) -> None:
    words, found, parsed = heard([prefix, *repeat(unit, 30_000)])

    assert found
    assert characters <= parsed < len(prefix) + characters + 100 + 14 * len(unit)
    assert (prefix + unit * 100).startswith(words)
    assert len(words) <= len(prefix) + max(len(unit), 64)


UNITS = st.text("abc ,.\n🙂界。", min_size=1, max_size=40) | st.lists(
    st.sampled_from(["The ", "light ", "is ", "on. ", "Yes! ", "no\n"]),
    min_size=1,
    max_size=30,
).map("".join)


@given(
    st.text("ab. \n", max_size=60),
    UNITS,
    st.integers(1, 60),
    st.text("xyz", min_size=1, max_size=5),
)
def test_what_is_not_dropped_is_passed_on_however_it_is_cut(
    prefix: str, unit: str, size: int, rest: str
) -> None:
    for text in (prefix + unit * 9 + rest, prefix + unit * 2_000):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        sentence, found, _ = heard([text])

        assert (sentence, found) == heard(pieces)[:2]
        assert text.startswith(sentence)
        assert found or sentence == text


@settings(max_examples=some_examples(25))
@given(st.text(max_size=40), UNITS)
def test_every_loop_is_found(prefix: str, unit: str) -> None:
    words, found, parsed = heard([prefix, *repeat(unit, 30_000)])

    assert found
    assert parsed <= len(prefix) + 20_500 + 30 * len(unit)
    assert len(words) <= len(prefix) + 2 * len(unit) + 200


@given(st.lists(st.tuples(UNITS, st.integers(1, 9)), max_size=12))
def test_what_is_said_nine_times_is_never_taken_for_a_loop(
    parts: Sequence[tuple[str, int]],
) -> None:
    text = "".join(
        f"{number}: {unit * times};" for number, (unit, times) in enumerate(parts)
    )

    assert heard([text])[:2] == (text, False)


class Endless(LeavableProvider):
    """A model that says some things first, and then the same for ever."""

    def __init__(
        self, first: Sequence[ProviderEvent], again: Sequence[ProviderEvent]
    ) -> None:
        self._first, self._again = first, again
        self.is_open = False

    async def stream(self, _: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Go on until nobody listens any more."""
        self.is_open = True
        try:
            for event in chain(self._first, cycle(self._again)):
                yield event
        finally:
            self.is_open = False


async def test_an_endless_answer_is_heard_once_and_kept_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider = Endless(
        [TextDelta("Sure. ")], [TextDelta("The light "), TextDelta("is on again. ")]
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).stop_reason is StopReason.REPETITION
    assert finished(events).text == spoken(events) == "Sure. The light is on again. "
    assert not provider.is_open
    assert [
        record.levelno
        for record in caplog.records
        if "repeated itself" in record.message
    ] == [logging.WARNING]


async def test_data_are_never_taken_for_a_loop() -> None:
    text = json.dumps({"heating": [[False] * 168] * 30})
    thoughts = ReasoningDelta("False or not? Let me see. " * 1_000)
    schema: JsonObject = {
        "type": "object",
        "properties": {"heating": {"type": "array"}},
    }
    turn = Turn("A plan for the week.", output=OutputFormat("plan", schema))

    events = await collect(
        AgenticLoop(ScriptedProvider([thoughts, *say(text)]), ScriptedDispatcher()),
        turn,
    )

    assert finished(events).stop_reason is StopReason.COMPLETED
    assert finished(events).text == text


async def test_endless_thoughts_end_with_words() -> None:
    provider = Endless([], [ReasoningDelta("Wait, let me check that again. ")])

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).stop_reason is StopReason.REPETITION
    assert finished(events).text == "I kept repeating myself."
    assert sum(isinstance(event, ReasoningDelta) for event in events) < 150


async def test_no_call_of_a_message_that_repeats_itself_runs() -> None:
    dispatcher = ScriptedDispatcher()

    events = await collect(
        AgenticLoop(Endless([LIGHT], [TextDelta("The light is on now. ")]), dispatcher),
        TURN,
    )

    assert dispatcher.finished == []
    assert [result.synthetic for result in results(events)] == [True]
    assert finished(events).stop_reason is StopReason.REPETITION
    assert finished(events).text == "I kept repeating myself."


async def test_what_was_done_before_the_repetition_is_said() -> None:
    thoughts: list[ProviderEvent] = [
        ReasoningDelta("Hm, let me think about it. " * 200),
        CompletionResult(FinishReason.STOP),
    ]
    provider = ScriptedProvider(call(LIGHT.call), thoughts)

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).text == "Done: light_on. I kept repeating myself."


async def test_what_is_held_is_heard_when_a_call_or_the_end_follows() -> None:
    first: list[ProviderEvent] = [
        TextDelta("One moment. One moment. "),
        LIGHT,
        CompletionResult(FinishReason.TOOL_CALLS),
    ]
    provider = ScriptedProvider(first, say("Yes. Yes."))

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert spoken(events) == "One moment. One moment. Yes. Yes."
    place = events.index(
        next(event for event in events if isinstance(event, ToolCallReady))
    )
    assert spoken(events[:place]) == "One moment. One moment. "


@pytest.mark.parametrize(
    "end", [[], [CompletionResult(FinishReason.LENGTH)]], ids=["failed", "too long"]
)
async def test_copies_of_a_cut_answer_are_not_heard_at_its_end(
    end: Sequence[ProviderEvent],
) -> None:
    paragraph = "".join(f"The light in room {room} is off. " for room in range(20))
    provider = ScriptedProvider([TextDelta(paragraph * 4), *end])

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert spoken(events).count("The light in room 7 is off.") == 1


async def test_a_cut_answer_keeps_words_with_which_a_sentence_began_before() -> None:
    provider = ScriptedProvider(
        [TextDelta("The light is on. The light"), CompletionResult(FinishReason.LENGTH)]
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert spoken(events).startswith("The light is on. The light")


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta])
async def test_what_is_dropped_counts_as_used(
    kind: type[TextDelta | ReasoningDelta],
) -> None:
    provider = Endless([], [kind("Wait, let me check that again. ")])

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).usage.output_tokens > 3_000 // 5


async def test_a_cut_without_a_report_counts_as_used() -> None:
    provider = ScriptedProvider(
        [TextDelta("The light is on. " * 100), CompletionResult(FinishReason.LENGTH)]
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert finished(events).usage.output_tokens > 1_700 // 5


async def test_a_hook_hears_what_is_repeated_once() -> None:
    censor = ScriptedCensor(lambda _: None)
    provider = Endless([], [TextDelta("The light is on again. ")])

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=(censor,)), TURN
    )

    assert censor.texts == ["The light is on again. "]
    assert spoken(events) == "The light is on again. "
