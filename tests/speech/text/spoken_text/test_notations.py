"""Numbers, units, dates and formulas are said as they are meant, in every language, however they arrive."""

import pytest

from custom_components.chatterbox.speech.text import SpeechFilter, speakable
from custom_components.chatterbox.speech.text.spoken_text import without_marks

LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "zh"]


def assert_said(text: str, spoken: str, language: str) -> None:
    """A text is said like this, whole or character by character, and what is said can be said again."""
    speech = SpeechFilter(language)

    assert speakable(text, language) == spoken
    assert "".join(map(speech.feed, text)) + speech.finish() == spoken
    assert speakable(spoken, language) == spoken


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        *(
            ("**bold**", "bold"),
            ("***both***", "both"),
            ("*_both_*", "both"),
            ("__init__", "init"),
            ("**", ""),
        ),
        *(
            ("2**3", "2**3"),
            ("(1)*(2)", "(1)*(2)"),
            ("**2*3**", "2*3"),
            ("snake_case", "snake_case"),
        ),
    ],
)
def test_marks_of_any_length_are_removed_at_once(word: str, bare: str) -> None:
    assert without_marks(word, "a link") == bare


READABLE = [
    *("50 %", "50%", "400 ppm", "CO₂", "10 €/MWh", "21°"),
    *(
        "12:30",
        "7:30",
        "10:30\u201311:00",
        "8-10",
        "8\u201310",
        "½",
        "1 1/2",
        "-5",
        "±1",
        "~5",
        "≈ 8",
    ),
    *("12,50 €", "$5-$10", "5$", "R$ 50", "US$ 5", "¥100", "5¢"),
    *("1.000,5", "1,000.5", ".5", "1st", "2nd", "3.", "1er", "1.º", "2ª", "#1"),
    *(
        "R&D",
        "a & b",
        "and/or",
        "5 \u00d7 3",
        "10 ÷ 2",
        "≤ 5",
        "@home",
        "C:\\temp\\new",
        "me@example.org",
    ),
    *(
        "+49 170 1234567",
        "v2.1.0",
        "192.168.1.10",
        "2026-11-22-backup",
        "1234-56-78",
        "12-2026",
        "°",
        "5'11\"",
    ),
]
"""Notations that a voice can read: it says them in its own language."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_voice_can_read_stays_as_it_is(language: str) -> None:
    for notation in READABLE:
        assert_said(f"x {notation} x", f"x {notation} x", language)
        assert_said(f"x ({notation}) x", f"x ({notation}) x", language)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        # characters that voices do not know
        ("−5 %", "-5 %"),  # noqa: RUF001  # the minus of typography
        ("Wi\u2011Fi", "Wi-Fi"),
        ("21,5\u202f%", "21,5 %"),
        ("21,5\xa0%", "21,5 %"),
        ("1️⃣ x 2️⃣", "1 x 2"),
        ("👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿👍🏽 x", "x"),
        (":smile: x :white_check_mark:", "x"),
        # LaTeX
        (r"$50\%$", "50%"),
        (r"\(3 \times 4\) x", "3 \u00d7 4 x"),
        (r"$$\frac{1}{7}$$", "1/7"),
        ("$x^2 + y^2 = z^2$", "x² + y² = z²"),
        ("10^{-3} x^2", "10⁻³ x²"),
        ("CO_{2}", "CO2"),
        (r"$\le$ 5, 5\$", "≤ 5, 5$"),
        (r"\textbf{x} \unknown{x}", r"x \unknownx"),
        # Markdown in Markdown
        ("***x** x*", "x x"),
        ("**x *x* x**", "x x x"),
        ("**`x`** _**x**_ ~~*x*~~ ==x x==", "x x x x x"),
        ("**[x x](https://x.example)**", "x x"),
        ("> - **x**: x", "x: x"),
        # HTML
        ("<details><summary>x</summary></details>5", "x. 5"),
        ("<b><i>x</i></b>&nbsp;H<sub>2</sub>O", "x H2O"),
        ('<span class="a b">x</span> <kbd>x</kbd>', "x x"),
        # footnotes and references
        ("x[^1] x[^note].", "x x."),
        ("5 ☀️: 5 🌧️; 5", "5: 5; 5"),
    ],
)
def test_what_a_voice_cannot_read_is_put_so_that_it_can(
    written: str, spoken: str
) -> None:
    for language in LANGUAGES:
        assert_said(written, spoken, language)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Sunny.[^1]\n\n[^1]: By the station.", "Sunny. By the station."),
        ("See [docs][1].\n\n[1]: https://x.example 'x'\nDone.", "See docs. Done."),
        ("Term\n: What it means", "Term. What it means"),
        (
            "Now:\n- -5 °C\n- 20 %\n\n1. One:\n   - two\n   - three\n2. Four",
            "Now: -5 degrees Celsius. 20 %. 1: One: two. three. 2: Four",
        ),
        (r"Done.\nNext:\n- one", "Done. Next: one"),
        ("$$\nE = mc^2\n$$\nDone.", "E = mc². Done."),
        ('{"state": "on"}', '"state": "on"'),
        ("50 % → 60 %, on ➡️ off", "50 %, 60 %, on, off"),
        # ticks that stand for no value
        ("✅ Done", "Done"),
        ("Done ✅", "Done"),
        ("Light: ✅ on", "Light: on"),
        ("- **Light:** ✅", "Light: yes"),
        ("Light → ✅", "Light, yes"),
        ("✅", "Okay."),
        ("- ✅ Milk\n- ❌ Bread", "Milk. Bread"),
    ],
)
def test_blocks_and_ticks(written: str, spoken: str) -> None:
    assert_said(written, spoken, "en")


@pytest.mark.parametrize(
    ("language", "day", "moment"),
    [
        ("en", "(November 2, 2026).", "November 2, 2026, 08:30"),
        ("de-AT", "(Zweiter November 2026).", "Zweiter November 2026, 08:30"),
        ("fr", "(2 novembre 2026).", "2 novembre 2026, 08:30"),
        ("es", "(2 de noviembre de 2026).", "2 de noviembre de 2026, 08:30"),
        ("it", "(2 novembre 2026).", "2 novembre 2026, 08:30"),
        ("nl", "(2 november 2026).", "2 november 2026, 08:30"),
        ("pt_BR", "(2 de novembro de 2026).", "2 de novembro de 2026, 08:30"),
        ("pl", "(2 listopada 2026 roku).", "2 listopada 2026 roku, 08:30"),
        ("sv", "(2 november 2026).", "2 november 2026, 08:30"),
        ("zh-Hans", "(2026年11月2日).", "2026年11月2日08:30"),
        ("xx", "(2026-11-02).", "2026-11-02T08:30:00+01:00"),
    ],
)
def test_dates(language: str, day: str, moment: str) -> None:
    assert_said("(2026-11-02).", day, language)
    assert_said("2026-11-02T08:30:00+01:00", moment, language)


@pytest.mark.parametrize(
    "moment",
    ["2026-11-02T08:30", "2026-11-02T08:30:15.250Z", "2026-11-02T08:30:15-05:00"],
)
def test_moments(moment: str) -> None:
    assert_said(f"**{moment}**, at last", "November 2, 2026, 08:30, at last", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_month_of_every_language_has_a_name(language: str) -> None:
    months = {speakable(f"2026-{month:02}-22", language) for month in range(1, 13)}

    assert len(months) == 12


@pytest.mark.parametrize(
    ("language", "first"),
    [("fr", "1er mars 2026"), ("it", "1º marzo 2026"), ("de", "Erster März 2026")],
)
def test_the_first_day_of_a_month(language: str, first: str) -> None:
    assert_said("2026-03-01", first, language)


def test_what_is_no_date_is_none() -> None:
    for text in (
        "2026-13-01",
        "2026-02-30",
        "backup-2026-11-22",
        "2026-11-22.log",
        "a/2026-11-22",
        "12026-11-22",
    ):
        assert_said(text, text, "en")


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [
        *[
            ("en", "yes", "no"),
            ("de", "ja", "nein"),
            ("fr", "oui", "non"),
            ("es", "sí", "no"),
            ("it", "sì", "no"),
        ],
        *[
            ("nl", "ja", "nee"),
            ("pt", "sim", "não"),
            ("pl", "tak", "nie"),
            ("sv", "ja", "nej"),
            ("zh", "是", "否"),
        ],
    ],
)
def test_a_tick_in_place_of_a_value_is_said(language: str, yes: str, no: str) -> None:
    stop = "。" if language == "zh" else ". "

    assert_said("A: ✅\nB: ❌", f"A: {yes}{stop}B: {no}", language)
    assert_said("| A | ✔️ |\n| B | ✗ |", f"A, {yes}{stop}B, {no}", language)
    assert_said("A : ✔, B - ✗.", f"A : {yes}, B - {no}.", language)


def test_a_tick_after_a_wide_colon_has_no_space() -> None:
    assert_said("厨房\uff1a✅\n浴室\uff1a❌", "厨房\uff1a是。浴室\uff1a否", "zh")


def test_a_language_without_words_leaves_ticks_out() -> None:
    assert_said("A: ✅\nB", "A: B", "xx")


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("The sky is blue.[1] It is high[2][3].", "The sky is blue. It is high."),
        ("The sky is blue [1][2]. It is high [3].", "The sky is blue. It is high."),
        ("Choose [1] red or [2] blue.", "Choose 1 red or 2 blue."),
        (
            "Readings are [12], [15] and [20] watts.",
            "Readings are 12, 15 and 20 watts.",
        ),
        ("Room [5] is free.", "Room 5 is free."),
    ],
)
def test_a_number_in_brackets_is_a_citation_only_right_after_a_word(
    text: str, spoken: str
) -> None:
    assert speakable(text, "en") == spoken


@pytest.mark.parametrize(
    ("language", "text", "spoken"),
    [
        ("pl", "W salonie jest 12.5°C.", "W salonie jest 12,5 stopnia Celsjusza."),
        ("cs", "Venku je 20.3 °C.", "Venku je 20,3 °C."),
        (
            "de",
            "Es sind **21.5 °C** und 48.5 % bei -3.5 km/h.",
            "Es sind 21,5 Grad Celsius und 48,5 % bei -3,5 Kilometer pro Stunde.",
        ),
        (
            "de",
            "Es sind 20.5-21.5 °C, 12.5 Grad, 12.50 €.",
            "Es sind 20,5-21,5 Grad Celsius, 12,5 Grad, 12,50 €.",
        ),
        ("fr", "Il fait 21.5\u202f°C.", "Il fait 21,5 degrés Celsius."),
        ("pt-BR", "São 21.5 °C.", "São 21,5 graus Celsius."),
        ("sv", "21.5  °C", "21,5 grader Celsius"),
        ("de-CH", "Es sind 21.5 °C.", "Es sind 21.5 Grad Celsius."),
        ("es-MX", "Son 21.5 °C.", "Son 21.5 grados Celsius."),
        ("en", "It is 21.5 °C.", "It is 21.5 degrees Celsius."),
        ("zh", "现在21.5 °C。", "现在21.5 摄氏度。"),
        ("de", "Am 12.5. um 7.30 Uhr", "Am 12.5. um 7.30 Uhr"),
        (
            "de",
            "Version 2026.11 und 3.2.1 % auf 192.168.1.20",
            "Version 2026.11 und 3.2.1 % auf 192.168.1.20",
        ),
        (
            "de",
            "Das sind 1.000 W und 12.345 kWh.",
            "Das sind 1.000 Watt und 12.345 Kilowattstunden.",
        ),
        ("nl", "Om 7.30 uur en op 1.5", "Om 7.30 uur en op 1.5"),
        ("fr", "À 7.30 l'école, chapitre 3.2", "À 7.30 l'école, chapitre 3.2"),
        ("es", "A las 7.30 h", "A las 7.30 horas"),
        ("de", "Es sind 21.5\n°C", "Es sind 21.5. Grad Celsius"),
        # degrees are words
        (
            "en",
            "It is 25 °C, inside 1°C.",
            "It is 25 degrees Celsius, inside 1 degree Celsius.",
        ),
        (
            "en",
            "**70 °F** (21 ℃), 5 °C/h, 21°",
            "70 degrees Fahrenheit (21 degrees Celsius), 5 degrees Celsius per hour, 21°",
        ),
        (
            "en",
            "20\u201321 °C and 20 → 22 °C",
            "20\u201321 degrees Celsius and 20, 22 degrees Celsius",
        ),
        (
            "pl",
            "1 °C, 22 °C, 12 °C, 12.5 °C",
            "1 stopień Celsjusza, 22 stopnie Celsjusza, 12 stopni Celsjusza, 12,5 stopnia Celsjusza",
        ),
        ("fr", "1.5 °C, 2 °F", "1,5 degré Celsius, 2 degrés Fahrenheit"),
        ("es", "1 °C, 2 °C", "1 grado Celsius, 2 grados Celsius"),
        ("it", "1 °C, 2 °C", "1 grado Celsius, 2 gradi Celsius"),
        ("nl", "1 °C, 2 °C", "1 graad Celsius, 2 graden Celsius"),
        ("pt", "1 °C, 2 °C", "1 grau Celsius, 2 graus Celsius"),
        ("sv", "1 °C, 2 °C", "1 grad Celsius, 2 grader Celsius"),
        ("de", "1 °C, 2 °F", "1 Grad Celsius, 2 Grad Fahrenheit"),
        ("zh-Hans", "现在21°C。", "现在21摄氏度。"),
        ("ja", "21 °C", "21 °C"),
        ("en", r"$21^\circ\text{C}$", "21 degrees Celsius"),
        ("en", r"$1^{\circ}\mathrm{C}$.", "1 degree Celsius."),
        ("en", r"$22\,^\circ\text{C}$", "22 degrees Celsius"),
        ("en", "−5 °C, 21,5\u202f°C", "-5 degrees Celsius, 21,5 degrees Celsius"),  # noqa: RUF001
    ],
)
def test_a_number_with_a_unit_is_said_as_in_its_language(
    language: str, text: str, spoken: str
) -> None:
    assert speakable(text, language) == spoken
    for place in range(len(text) + 1):
        speech = SpeechFilter(language)
        assert (
            speech.feed(text[:place]) + speech.feed(text[place:]) + speech.finish()
            == spoken
        )


def test_units_stay_as_they_are_in_a_language_without_words_for_them() -> None:
    assert_said("20kWh ve 5km", "20kWh ve 5km", "tr")
