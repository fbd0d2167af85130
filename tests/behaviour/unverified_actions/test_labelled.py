"""The labelled texts are enough, and what they are said to be."""

from collections import Counter

import pytest

from custom_components.chatterbox.agent.unverified_actions.grammar import GRAMMARS

from .labelled import LANGUAGES, Half, Kind, LabelledText, read_recorded, read_runs, read_written

REPORTS = {Kind.PERFECT, Kind.PASSIVE, Kind.NOW, Kind.PROGRESS, Kind.SHORT}
ALL = pytest.mark.parametrize(
    "texts",
    [
        pytest.param(read_recorded(), id="recorded"),
        *(pytest.param(read_written(language), id=language) for language in LANGUAGES),
    ],
)


def test_every_language_has_texts() -> None:
    assert set(LANGUAGES) == set(GRAMMARS)


def test_every_recorded_answer_is_labelled() -> None:
    runs = [*read_runs("assist-mini"), *read_runs("hard-cases")]
    answers = {run.resp for run in runs if run.resp and run.resp.strip()}
    messages = {message.content for run in runs for message in run.asst}
    labelled = {one.text for one in read_recorded()}

    assert len(answers) >= 300
    assert answers <= labelled <= answers | messages


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_enough_texts_and_half_of_them_hard(language: str) -> None:
    texts = read_written(language)

    assert len(texts) >= 60
    assert sum(not one.reports for one in texts) >= len(texts) / 2
    assert {one.kind for one in texts} == set(Kind)
    assert all(one.reports == (one.kind in REPORTS) for one in texts)


@ALL
def test_no_text_comes_twice(texts: tuple[LabelledText, ...]) -> None:
    assert [text for text, count in Counter(one.text for one in texts).items() if count > 1] == []


@ALL
def test_halves_have_as_many_reports(texts: tuple[LabelledText, ...]) -> None:
    tuned, held_out = (
        Counter(one.reports for one in texts if one.half is half) for half in (Half.TUNED, Half.HELD_OUT)
    )

    assert abs(tuned[True] - held_out[True]) <= 5
    assert abs(tuned[False] - held_out[False]) <= 5
