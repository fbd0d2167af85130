"""Tests of what sentences mean, by language, and of what is never taken for a request."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.text import base_language
from custom_components.chatterbox.nlu import lexicon as lexicons
from custom_components.chatterbox.nlu.requests import (
    Choice,
    DeviceSetting,
    EntityCommand,
    ListRequest,
    OpenQuestion,
    PlayerGroup,
    PlayRequest,
    SpokenRequest,
    StateQuestion,
    TimerRequest,
    UnknownName,
    WorldQuestion,
)
from custom_components.chatterbox.nlu.understanding import understand
from tests.nlu.home import demo_names
from tests.nlu.spoken_requests import HERE, SENTENCES, rows, words_of

LANGUAGES = Path(lexicons.__file__).parents[1] / "languages"
LEAST_REQUESTS, LEAST_RIGHT = 100, 0.9
LEAST_HOSTILE = 15
SOME_FORMS = 3


def understood(sentence: str, language: str) -> str:
    """Return what a sentence means, in short."""
    return "; ".join(map(short, requests_of(sentence, language)))


def requests_of(sentence: str, language: str) -> Sequence[SpokenRequest]:
    """Return what a sentence asks for, nothing if all of it is unknown."""
    words = words_of(language)
    requests = understand(sentence, demo_names(language, words), HERE)
    return () if all(isinstance(one, UnknownName) for one in requests) else requests


def short(request: SpokenRequest) -> str:  # noqa: C901, PLR0911 one of each kind
    """Return a request in short: "set light.desk_lamp 50 percent"."""
    match request:
        case EntityCommand(
            act=act, ids=ids, amount=amount, unit=unit, colour=colour, is_by=is_by
        ):
            value = f"{amount:g} {unit}".strip() if amount is not None else ""
            return " ".join(
                filter(
                    None, (act, *sorted(ids), colour, value, "more" if is_by else "")
                )
            )
        case DeviceSetting(ids=ids, values=values):
            return f"set {' '.join(sorted(ids))} {values}"
        case PlayerGroup(ids=ids, leader=leader):
            return f"group {' '.join(sorted(ids))} {leader}"
        case Choice(ids=ids):
            return f"which {' '.join(sorted(ids))}"
        case WorldQuestion(topics=topics, days=days, is_whether=is_whether, zone=zone):
            return " ".join(
                filter(None, ("whether" if is_whether else "ask", *topics, *days, zone))
            )
        case ListRequest(act=act, list_id=list_id, items=items, is_all=is_all):
            return " ".join(
                filter(
                    None,
                    (act, "lists" if is_all else list_id or "list", ", ".join(items)),
                )
            )
        case PlayRequest(query=query):
            return f"play {query.lower()}"
        case TimerRequest(durations=durations, name=name):
            return " ".join(
                filter(
                    None,
                    (
                        "timer",
                        *(f"{number} {unit}" for unit, number in durations.items()),
                        name,
                    ),
                )
            )
        case OpenQuestion(lacks=lacks, sentence=sentence):
            return f"lacks {lacks} {sentence}".strip()
        case UnknownName(text=text, alike=alike):
            return " ".join(("unknown", text, *alike))
        case StateQuestion(ids=ids, form=form, state=state):
            return " ".join(filter(None, (form, *sorted(ids), state)))


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_has_one_meaning(language: str) -> None:
    wrong = [
        (sentence, meaning, understood(sentence, language))
        for _, sentence, meaning in rows("requests", language)
    ]
    assert [one for one in wrong if one[1] != one[2]] == []


@pytest.mark.parametrize(
    ("language", "sentence", "meaning"),
    [
        ("en", "put butter on it", "add todo.shopping_list butter"),
        ("en", "add butter and salt", "add todo.shopping_list butter, salt"),
        ("en", "take butter off it", "remove todo.shopping_list butter"),
        ("en", "what is on it", "read todo.shopping_list"),
        ("de", "was steht drauf", "read todo.shopping_list"),
        ("de", "setz Butter drauf", "add todo.shopping_list Butter"),
        ("en", "add butter to the list", "add todo.shopping_list butter"),
        ("en", "what lists do I have", "read lists"),
        ("en", "add butter to the chores", "add todo.chores butter"),
        ("en", "don't put butter on it", ""),
        ("en", "put the floor lamp on", "on light.floor_lamp"),
        ("en", "add two degrees", ""),
        ("en", "turn it off", ""),
    ],
)
def test_it_is_the_list_of_the_request_before(
    language: str, sentence: str, meaning: str
) -> None:
    names = demo_names(language, words_of(language))
    after = replace(HERE, last=frozenset({"todo.shopping_list"}))

    assert "; ".join(map(short, understand(sentence, names, after))) == meaning
    assert "todo" not in understood("put butter on it", language)


@pytest.mark.parametrize("language", SENTENCES)
def test_most_of_what_is_said_in_a_day_is_understood(language: str) -> None:
    right, unreached = (
        len(rows(section, language)) for section in ("requests", "unreached")
    )
    assert right + unreached >= LEAST_REQUESTS
    assert right / (right + unreached) >= LEAST_RIGHT


@pytest.mark.parametrize("language", SENTENCES)
def test_what_is_not_reached_yet_is_not_mistaken(language: str) -> None:
    for _, sentence, meaning in rows("unreached", language):
        assert understood(sentence, language) in {"", meaning}


@pytest.mark.parametrize("language", SENTENCES)
def test_what_is_no_plain_request_is_not_understood(language: str) -> None:
    assert [
        sentence
        for _, sentence, _ in rows("none", language)
        if understood(sentence, language)
    ] == []


@pytest.mark.parametrize("language", SENTENCES)
def test_words_that_reverse_a_request_are_never_left_out(
    language: str, pytestconfig: pytest.Config
) -> None:
    reversing = SENTENCES[language]["reversing"]["words"]
    commands = [
        row[1]
        for row in rows("requests", language)
        if row[2].partition(" ")[0] in {"on", "off"}
    ]
    if not pytestconfig.option.thorough:  # each word in some commands
        commands = commands[::SOME_FORMS]
    sentences = [f"{word} {command}" for word in reversing for command in commands]
    assert sentences
    assert {one for one in sentences if requests_of(one, language)} == set()


@pytest.mark.parametrize("language", SENTENCES)
def test_a_command_with_words_that_change_it_is_not_understood(
    language: str, pytestconfig: pytest.Config
) -> None:
    hostile = SENTENCES[language]["hostile"]
    commands = [
        form.format(target)
        for form in hostile["forms"]
        for target in hostile["targets"]
    ]
    if not pytestconfig.option.thorough:  # each change in some commands
        commands = commands[::SOME_FORMS]
    assert len(hostile["changes"]) >= LEAST_HOSTILE
    assert any(understood(command, language) for command in commands)
    assert [
        one
        for change in hostile["changes"]
        for one in map(change.format, commands)
        if understood(one, language)
    ] == []


@pytest.mark.parametrize("language", SENTENCES)
def test_no_phrase_that_reverses_a_request_is_read_as_other_words(
    language: str, pytestconfig: pytest.Config
) -> None:
    data = tomllib.loads(
        (LANGUAGES / base_language(language) / "requests.toml").read_text("utf-8")
    )
    hostile = SENTENCES[language]["hostile"]
    commands = [
        form.format(hostile["targets"][0]).split()
        for form in hostile["forms"][
            : SOME_FORMS if pytestconfig.option.thorough else 1
        ]
    ]
    sentences = [
        " ".join((*command[:at], phrase.strip(), *command[at:]))
        for phrase in data["reversing"].replace("\n", " ").split(",")
        for command in commands
        for at in range(len(command) + 1)
    ]
    assert [one for one in sentences if understood(one, language)] == []
