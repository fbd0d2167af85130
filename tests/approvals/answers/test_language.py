"""Sentence templates are expanded, and the files of all languages keep their rules."""

import pytest

from custom_components.chatterbox.agent.text import fold, spoken_words
from custom_components.chatterbox.approvals.answers.language import (
    WORDINGS,
    Action,
    Phrase,
    Wording,
    action_words,
    is_about_all,
    may_except,
    phrases_of,
)

LANGUAGES = pytest.mark.parametrize(
    "wording", [pytest.param(wording, id=code) for code, wording in WORDINGS.items()]
)
SLOTS = {"it": ["x"], "action": ["x"], "name": ["x"]}


def plain(phrases: frozenset[Phrase]) -> frozenset[Phrase]:
    """Return phrases as somebody writes them who leaves the accents out."""
    return frozenset(tuple(map(fold, phrase)) for phrase in phrases)


@LANGUAGES
def test_every_action_can_be_repeated(wording: Wording) -> None:
    assert set(wording.actions) == set(Action)
    assert all(phrases_of(message, SLOTS) for message in wording.actions.values())


@LANGUAGES
def test_no_phrase_agrees_and_declines(wording: Wording) -> None:
    agreeing = phrases_of(
        (*wording.yes, *wording.yes_alone, *wording.after_yes, *wording.courtesies),
        SLOTS,
    )

    assert (
        plain(agreeing) & plain(phrases_of((*wording.no, *wording.no_alone), SLOTS))
        == set()
    )


@LANGUAGES
def test_no_action_is_a_yes_a_no_or_a_courtesy(wording: Wording) -> None:
    actions = phrases_of(
        [one for message in wording.actions.values() for one in message], SLOTS
    )
    others = (
        *wording.yes,
        *wording.yes_alone,
        *wording.no,
        *wording.no_alone,
        *wording.courtesies,
    )

    assert (
        actions & phrases_of([one.replace("<action>", "<it>") for one in others], SLOTS)
        == set()
    )


@pytest.mark.parametrize(
    ("one", "opposite"),
    [
        (Action.UNLOCK, Action.LOCK),
        (Action.OPEN, Action.CLOSE),
        (Action.DISARM, Action.ARM),
        (Action.TURN_ON, Action.TURN_OFF),
    ],
)
@LANGUAGES
def test_opposite_actions_share_no_word(
    wording: Wording, one: Action, opposite: Action
) -> None:
    opposites = phrases_of(wording.actions[opposite], SLOTS)

    assert plain(phrases_of(wording.actions[one], SLOTS)) & plain(opposites) == set()


@LANGUAGES
def test_names_stand_in_their_templates(wording: Wording) -> None:
    named = phrases_of(wording.named, SLOTS)

    assert ("x",) in named
    assert all(phrase[-1].endswith("x") for phrase in named)


@LANGUAGES
def test_places_stand_in_their_templates(wording: Wording) -> None:
    placed = phrases_of(wording.placed, SLOTS | {"place": ["x"]})

    assert placed
    assert all(
        any(word.endswith("x") for word in phrase) and phrase != ("x",)
        for phrase in placed
    )


@LANGUAGES
def test_characters_are_folded_in_pairs(wording: Wording) -> None:
    assert len(wording.folded) % 2 == 0
    assert all(
        spoken_words(char, wording.folded) == (char,) for char in wording.folded[1::2]
    )


@LANGUAGES
def test_numbers_are_as_many_as_there_are(wording: Wording) -> None:
    numbers = wording.numbers

    assert (len(numbers.digits), len(numbers.teens), len(numbers.tens)) == (10, 10, 8)
    assert len(numbers.units) in {0, 9}


@pytest.mark.parametrize(
    ("template", "phrases"),
    [
        ("go ahead", {"go ahead"}),
        ("yes|yeah", {"yes", "yeah"}),
        ("yes [please]", {"yes", "yes please"}),
        (
            "(yes|yeah) [please|now]",
            {"yes", "yeah", "yes please", "yeah please", "yes now", "yeah now"},
        ),
        ("[very (much|well)] yes", {"yes", "very much yes", "very well yes"}),
        ("a (b|c (d|e)) f|g", {"a b f", "a c d f", "a c e f", "g"}),
        ("[please]", {"please"}),
        ("Yes, Sir!", {"yes sir"}),
    ],
)
def test_a_template_stands_for_phrases(template: str, phrases: set[str]) -> None:
    assert phrases_of([template]) == {tuple(phrase.split()) for phrase in phrases}


def test_slots_are_filled_with_templates() -> None:
    slots = {"action": ["open [<it>]"], "it": ["it", "the (big|small) door"]}

    assert phrases_of(["do|<action>"], slots) == {
        ("do",),
        ("open",),
        ("open", "it"),
        ("open", "the", "big", "door"),
        ("open", "the", "small", "door"),
    }


def test_a_phrase_with_a_slot_that_stays_empty_is_left_out() -> None:
    assert phrases_of(["do it|(please|) <action>"], {"action": []}) == {("do", "it")}


@pytest.mark.parametrize(
    ("language", "one", "several"),
    [
        ("de", "mach die Haustür auf, sie klemmt", "schließ bitte alle Türen auf!"),
        ("en", "unlock the front door", "Can you unlock ALL doors?"),
        ("es", "abre la puerta", "abre todas las puertas"),
        ("fr", "ouvre la porte tout de suite", "ouvre les deux portes"),
        ("it", "apri la porta", "apri tutte le porte"),
        ("nl", "is de deur al open?", "doe alle deuren open"),
        ("pl", "otwórz drzwi", "otwórz wszystkie drzwi"),
        ("pt-BR", "abra a porta", "abra todas as portas"),
        ("sv", "öppna dörren", "öppna båda dörrarna"),
        ("zh-Hans", "打开前门", "把所有的门都打开"),
        ("ja", "ドアを開けて", ""),
    ],
)
def test_a_request_is_about_one_device_or_about_all(
    language: str, one: str, several: str
) -> None:
    assert not is_about_all(one, language)
    assert is_about_all(several, language) is bool(several)


@pytest.mark.parametrize(
    ("language", "exception", "request_for_all"),
    [
        ("de", "alle Türen außer der Hintertür", "schließ alle Türen auf"),
        ("en", "all doors, but don't open the back door", "unlock all doors, please"),
        ("es", "todas las puertas menos la trasera", "abre todas las puertas"),
        ("fr", "toutes les portes à l'exception du garage", "ouvre les deux portes"),
        ("it", "tutte le porte tranne quella sul retro", "apri tutte le porte"),
        ("nl", "alle deuren behalve de achterdeur", "doe alle deuren open"),
        ("pl", "wszystkie drzwi oprócz tylnych", "otwórz wszystkie drzwi"),
        ("pt-BR", "todas as portas, exceto a dos fundos", "abra todas as portas"),
        ("sv", "alla dörrar utom bakdörren", "öppna båda dörrarna"),
        ("zh-Hans", "除了后门把所有的门都打开", "把所有的门都打开"),
    ],
)
def test_a_request_may_leave_out_a_device(
    language: str, exception: str, request_for_all: str
) -> None:
    assert may_except(exception, language)
    assert not may_except(request_for_all, language)


def test_a_text_that_is_longer_than_what_people_say_may_leave_out_anything_and_is_never_about_all() -> (
    None
):
    text = f"unlock all doors {'please ' * 20_000}"

    assert may_except(text, "en")
    assert not is_about_all(text, "en")


def test_a_request_in_an_unknown_language_may_leave_out_anything() -> None:
    assert may_except("ドアを開けて", "ja")


def test_an_unknown_language_has_no_words_of_requests() -> None:
    assert "unlock" in action_words("en", Action.UNLOCK)
    assert action_words("xx", Action.UNLOCK) == frozenset()
