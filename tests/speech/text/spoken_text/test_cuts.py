"""Voices cut an answer where its sentences end, and not at dates, ordinals, abbreviations, units and initials."""

import tomllib
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from sentence_stream import SentenceBoundaryDetector

from custom_components.chatterbox.speech.text import (
    SpeechFilter,
    names_in_other_words,
    speakable,
)
from tests.speech.text.markdown_texts import cut, markdown

SENTENCES: dict[str, list[dict[str, str | list[str]]]] = tomllib.loads(
    (Path(__file__).parents[1] / "spoken_sentences.toml").read_text("utf-8")
)
CASES = [
    (language, case["written"], case["spoken"])
    for language, cases in SENTENCES.items()
    for case in cases
]
PAUSE = "\n\n"


def pieces(texts: Iterable[str]) -> list[str]:
    """Return the pieces that voices make of a stream of text."""
    cutter = SentenceBoundaryDetector()
    found = [sentence for text in texts for sentence in cutter.add_chunk(text)]
    return [*found, *filter(None, [cutter.finish()])]


def streamed(
    texts: Iterable[str], language: str, names: tuple[str, ...] = ()
) -> list[str]:
    """Return the pieces of a streamed answer."""
    speech = SpeechFilter(language, names=names, pause=PAUSE)
    return pieces([*map(speech.feed, texts), speech.finish()])


def ends(sentences: Iterable[str]) -> set[int]:
    """Return where sentences end, counted in letters."""
    return {*accumulate(len("".join(one.split())) for one in sentences)}


def test_every_language_has_twenty_answers() -> None:
    assert {
        language: len(cases) for language, cases in SENTENCES.items()
    } == dict.fromkeys(SENTENCES, 20)
    assert len(SENTENCES) == 11


@pytest.mark.parametrize(("language", "written", "spoken"), CASES)
def test_an_answer_is_cut_where_its_sentences_end(
    language: str, written: str, spoken: list[str]
) -> None:
    assert streamed(written, language) == spoken
    assert streamed([written], language) == spoken
    whole = speakable(written, language)
    assert "".join(whole.split()) == "".join("".join(spoken).split())
    assert ends(pieces([whole])) <= ends(spoken)
    assert speakable(whole, language) == whole


@pytest.mark.parametrize(
    ("language", "written", "spoken"),
    [
        (
            "de",
            "Der Termin ist am 3. Ich sage Bescheid.",
            ["Der Termin ist am dritten.", "Ich sage Bescheid."],
        ),
        (
            "de",
            "Das war am 26. Danach war Ruhe.",
            ["Das war am sechsundzwanzigsten.", "Danach war Ruhe."],
        ),
        ("de", "Am 3. Mai ist frei.", ["Am dritten Mai ist frei."]),
        (
            "de",
            "Es sind 1 Mio. Menschen. Viele.",
            ["Es sind eine Million Menschen.", "Viele."],
        ),
        ("de", "Es sind 1,5 Mio. Menschen.", ["Es sind 1,5 Millionen Menschen."]),
        (
            "en",
            "Take bus No. 5 to town. It is late.",
            ["Take bus number 5 to town.", "It is late."],
        ),
        ("en", "No. 21 degrees is too warm.", ["No.", "21 degrees is too warm."]),
        ("en", "Max. Temp. is 20 degrees.", ["Maximum temperature is 20 degrees."]),
        (
            "es",
            "Es a las 5 p. m. Hasta luego.",
            ["Es a las 5 de la tarde.", "Hasta luego."],
        ),
        ("pt", "É às 5 p. m. Até lá.", ["É às 5 da tarde.", "Até lá."]),
        ("pl", "Jest godz. 15. Jest ciepło.", ["Jest godzina 15.", "Jest ciepło."]),
        ("pl", "Do godz. 15 pada.", ["Do godziny 15 pada."]),
        ("pl", "O godz. 15 jest obiad.", ["O godzinie 15 jest obiad."]),
    ],
)
def test_a_short_word_with_a_full_stop_ends_a_sentence_only_where_one_ends(
    language: str, written: str, spoken: list[str]
) -> None:
    assert streamed(written, language) == spoken


@given(st.data(), st.sampled_from([*SENTENCES]))
def test_no_cut_of_the_stream_makes_a_difference(
    data: st.DataObject, language: str
) -> None:
    written = st.lists(
        st.sampled_from([str(case["written"]) for case in SENTENCES[language]]),
        min_size=1,
        max_size=4,
    )
    text = data.draw(written.map(" ".join) | markdown())
    speech, in_parts = (
        SpeechFilter(language, pause=PAUSE),
        SpeechFilter(language, pause=PAUSE),
    )

    whole = speech.feed(text) + speech.finish()
    assert (
        "".join(map(in_parts.feed, data.draw(cut(text)))) + in_parts.finish() == whole
    )
    assert "".join(whole.split()) == "".join(speakable(text, language).split())


@pytest.mark.parametrize(
    ("language", "name"),
    [
        *(
            ("en", name)
            for name in ("A/C", "Pump 3/4", "vol. 5 A", "Dr. Who Lamp", "Room 5 m² Fan")
        ),
        ("en", "Freezer Temp"),
        ("pl", "Lampa wg Ewy"),
        *(
            ("de", name)
            for name in ("Heizung 1. OG", "Temp. Bad", "light.kitchen", "5 W Lampe")
        ),
    ],
)
def test_the_name_of_a_device_stays_as_it_is(language: str, name: str) -> None:
    text = f"x {name} is on. The {name}, ({name}) too. It is the {name}."
    heard = " ".join(streamed(text, language, (name.upper(), "Other 1. Lamp"))).replace(
        "\u2060", ""
    )

    assert heard == text
    assert speakable(text, language) != text
    assert names_in_other_words([name, "Kitchen 1"], language) == (name,)


@pytest.mark.parametrize(
    ("language", "written", "spoken"),
    [
        ("en", "On 3/4, 1 1/2 of 3/4.", "On 3/4, 1 1/2 of three quarters."),
        (
            "en",
            "$5 million, €1 and £2, $1,200.00, €1.20.",
            "$5 million, 1 euro and 2 pounds, 1,200 dollars, 1 euro 20.",
        ),
        ("zh", "€5万, €12.50, €3", "€5万, 12.50欧元, 3欧元"),
        ("en", "At 7:30, 16:9, 3:2.", "At 7:30, 16 to 9, 3 to 2."),
        ("en", "5 W, 5W, 4K, 5G, 3 A, 1 h, in km/h, 5\u202fµm.", None),
        (
            "en",
            "light.turn_on, light.a2, example.org, a.b",
            "light turn on, light a2, example.org, a.b",
        ),
        (
            "en",
            "E.g. this. W/o that. Approx. 5.",
            "For example this. Without that. Approximately 5.",
        ),
        (
            "en",
            "(e.g. this), etc.), etc., p.m.!",
            "(for example this), et cetera), et cetera, PM!",
        ),
        ("en", "At 5 p.m.", "At 5 PM."),
        ("en", "| The. | 1️⃣ [1]. | The |", "The. 1: The"),
        ("en", "1️⃣ [1].", "1."),
        ("en", "Noon etc. lamps. P. 5, p. x.", "Noon et cetera lamps. Page 5, p. x."),
        (
            "en",
            "Steps: 1. Boil. Open: 3. Closed: 2.",
            "Steps: 1: Boil. Open: 3. Closed: 2.",
        ),
        ("en", "the 1. FC Köln. 2026. 5.", "the 1 FC Köln. 2026. 5."),
        (
            "de",
            "Am 3. und 4. Mai. 99. Mai, 3. und so.",
            "Am 3. und vierten Mai. 99 Mai, 3. und so.",
        ),
        (
            "de",
            "in der 2. Etage, im 1. OG, das 2. Mal",
            "in der zweiten Etage, im ersten OG, das zweite Mal",
        ),
        (
            "de",
            "2. Bundesliga, Montag, 3. Dezember",
            "Zweite Bundesliga, Montag, dritter Dezember",
        ),
        (
            "pl",
            "2 km, 5 km, 1 km, 1,5 km",
            "2 kilometry, 5 kilometrów, 1 kilometr, 1,5 kilometra",
        ),
        (
            "fr",
            "à 7 h 30. C\u2019est “M. Dupont”.",
            "à 7 heures 30. C\u2019est “Monsieur Dupont”.",
        ),
        ("ja", "1. A 5 km/h, 3:2, 3/4, €5", "1: A 5 km/h, 3:2, 3/4, €5"),
    ],
)
def test_words(language: str, written: str, spoken: str | None) -> None:
    expected = (
        spoken
        or "5 watts, 5 watts, 4K, 5G, 3 amperes, 1 hour, in kilometers per hour, 5 micrometers."
    )

    assert speakable(written, language) == expected
    assert " ".join(streamed(written, language)) == expected
