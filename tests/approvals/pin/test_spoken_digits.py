"""The digits of a PIN are understood in every language, and only if there is one way to understand them."""

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from unicode_rbnf import RbnfEngine

from custom_components.chatterbox.approvals.answers.language import (
    WORDINGS,
    Action,
    phrases_of,
)
from custom_components.chatterbox.approvals.answers.yes_or_no import (
    Meaning,
    QuestionContext,
)
from custom_components.chatterbox.approvals.pin.spoken_digits import (
    spoken_digits,
    whole_digits,
)
from tests.behaviour.confirmation.labelled import Kind, read_answers

LANGUAGES = st.sampled_from(sorted(WORDINGS))


@cache
def spelled(language: str) -> list[str]:
    """Return the numbers as the Unicode consortium's rules write them."""
    engine = RbnfEngine.for_language(language)
    return [engine.format_number(number).text for number in range(100)]


@pytest.mark.parametrize(
    ("language", "text", "digits"),
    [
        ("en", "four seven one one", "4711"),
        ("en", "Four, seven, one, one.", "4711"),
        ("en", "4711", "4711"),
        ("en", "4 7 1 1", "4711"),
        ("en", "47 11", "4711"),
        ("en", "4,711.", "4711"),
        ("en", "4-7-1-1", "4711"),
        ("en", "forty-seven eleven", "4711"),
        ("en", "four 7 11", "4711"),
        ("en", "forty, seven, eleven", "40711"),
        ("en", "double seven oh one", "7701"),
        ("en", "triple 7 zero", "7770"),
        ("en", "twelve thirty four fifty six seven", "1234567"),
        ("en", "the code is 4711", "4711"),
        ("en", "Yes, my PIN is: four seven eleven, please!", "4711"),
        ("en", "it's 4711 thanks", "4711"),
        ("en", "Sure thing, 4711.", "4711"),
        ("en", "4711, go ahead", "4711"),
        ("en", "yes please, my PIN is 4711, thanks, do it", "4711"),
        ("en", "yes, oh four seven one one", "04711"),
        ("en", "yes oh, four seven one one", "04711"),
        ("de", "siebenundvierzig elf", "4711"),
        ("de", "sieben und vierzig elf", "4711"),
        ("de", "vierzig sieben elf", "40711"),
        ("de", "Der Code lautet vier sieben eins eins", "4711"),
        ("de", "zwo null zwo fünf", "2025"),
        ("de", "zweimal die sieben elf", "7711"),
        ("fr", "quarante-sept onze", "4711"),
        ("fr", "mon code est quatre-vingt-dix-sept soixante et onze", "9771"),
        ("fr", "quatre vingt deux zéro zéro", "8200"),
        ("fr", "septante-deux nonante et un", "7291"),
        ("es", "cuarenta y siete once", "4711"),
        ("es", "veintidós dieciséis", "2216"),
        ("it", "quarantasette ventotto", "4728"),
        ("nl", "tweeëndertig elf", "3211"),
        ("pt", "quatro sete um meia", "4716"),
        ("pl", "czterdziesci siedem jedenascie", "4711"),
        ("sv", "fyrtio sju elva", "4711"),
        ("zh", "四七幺幺", "4711"),
        ("zh", "四十七。十一", "4711"),
        ("zh", "密码是４７１１", "4711"),
        ("pt-BR", "quatro sete um um", "4711"),
        ("fi", "Kyllä, 4711.", "4711"),
        ("fi", "neljä seitsemän yksi yksi", "4711"),
        ("fi", "four seven one one", "4711"),
        ("ar", "٤٧١١", "4711"),
        ("ar", "نعم، ٤ ٧ ١ ١", "4711"),  # noqa: RUF001  # as people write it
        ("fa", "۴۷۱۱", "4711"),
        ("hi", "४७११", "4711"),
        ("th", "๔๗๑๑ ครับ", "4711"),
        ("ja", "はい、４７１１", "4711"),  # noqa: RUF001  # as people write it
        ("ja", "よんなないちいち", "4711"),
        ("ko", "네, 사 칠 일 일", "4711"),
        ("ru", "четыре семь один один", "4711"),
        ("tr", "Dört yedi bir bir.", "4711"),
        ("no", "fire sju en en", "4711"),
    ],
)
def test_a_pin_is_understood(language: str, text: str, digits: str) -> None:
    assert spoken_digits(text, language) == digits


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", ""),
        ("en", "yes"),
        ("en", "my PIN is"),
        ("en", "four seven one"),
        ("en", "1 2 3 4 5 6 7 8 9 0 1"),
        ("en", "four seven one one I think"),
        ("en", "not four seven one one"),
        ("en", "no, four seven one one"),
        ("en", "yes, unlock the back door, 4711"),
        ("en", "four seven one one or four seven one two"),
        ("en", "forty 7 eleven"),
        ("en", "four thousand seven hundred eleven"),
        ("en", "double double seven"),
        ("en", "double forty seven"),
        ("en", "double 47"),
        ("en", "4711?"),
        ("en", "47/11"),
        ("en", "4711 👍"),
        ("en", "47x11"),
        ("en", "٤٧١١"),
        ("en", "4" + "\N{ZERO WIDTH SPACE}" + "711"),
        ("de", "four seven one one"),
        ("fr", "vingt quatre vingt quatre"),
        ("zh", "四十七十一"),
        ("zh", "四十7 11"),
        ("xx", "4711"),
        ("fa", "۴۷۱"),
        ("fi", "neljä seitsemän yksi"),
        ("fi", "ei, 4711"),
        ("ko", "아니요 사칠일일"),
        ("en", "4711" + " " * 200),
        ("en", "one " * 30),
    ],
)
def test_what_may_be_no_pin_or_another_is_none(language: str, text: str) -> None:
    assert spoken_digits(text, language) is None


@pytest.mark.parametrize("language", WORDINGS)
def test_a_plain_yes_may_stand_around_the_digits(language: str) -> None:
    plain = [
        one.text
        for one in read_answers(language)
        if one.answer is Meaning.YES and one.kind is Kind.PLAIN
    ]

    assert plain
    assert [
        yes for yes in plain if spoken_digits(f"{yes}, 4711", language) != "4711"
    ] == []
    assert [
        yes for yes in plain if spoken_digits(f"4711, {yes}", language) != "4711"
    ] == []
    assert [
        yes for yes in plain if spoken_digits(f"{yes} 4 7 1 1", language) != "4711"
    ] == []


def test_a_yes_may_repeat_what_was_asked() -> None:
    question = QuestionContext(Action.UNLOCK, ("Front door",))

    assert spoken_digits("yes, unlock the front door, 4711", "en", question) == "4711"
    assert spoken_digits("yes, unlock the back door, 4711", "en", question) is None
    assert spoken_digits("unlock the front door, 4711", "en", question) is None


@pytest.mark.parametrize("language", WORDINGS)
def test_numbers_are_said_as_unicode_writes_them(language: str) -> None:
    for number, written in enumerate(spelled(language)):
        assert spoken_digits(f"11, {written}, 11", language) == f"11{number}11"


@given(st.data(), LANGUAGES)
def test_digits_said_one_by_one_are_always_understood(
    data: st.DataObject, language: str
) -> None:
    pin = data.draw(st.text("0123456789", min_size=4, max_size=10))
    separator = data.draw(st.sampled_from([" ", ", ", "-", ". "]))

    assert (
        spoken_digits(
            separator.join(spelled(language)[int(digit)] for digit in pin), language
        )
        == pin
    )
    assert spoken_digits(separator.join(pin), language) == pin
    assert spoken_digits(pin, language) == pin


@given(st.data(), LANGUAGES)
def test_numbers_that_run_into_each_other_are_understood_rightly_or_not_at_all(
    data: st.DataObject, language: str
) -> None:
    numbers = data.draw(st.lists(st.integers(0, 99), min_size=2, max_size=5))
    written = [spelled(language)[number].replace("-", " ") for number in range(100)]
    if any(
        f"{written[one]}{gap}{written[two]}" in written
        for one, two in pairwise(numbers)
        for gap in ("", " ")
    ):
        return  # "forty seven" is one number, and so are "quatre vingt" and "二十"
    if any(
        first % 10 == 0 and first and second < 20 for first, second in pairwise(numbers)
    ):
        return  # "soixante douze" may be one
    words = "".join(map(str, numbers))

    assert spoken_digits(
        " ".join(spelled(language)[number] for number in numbers), language
    ) in {words, None}


@given(st.data(), LANGUAGES)
def test_courtesies_around_a_pin_do_not_matter(
    data: st.DataObject, language: str
) -> None:
    words = WORDINGS[language].numbers
    before, after = (
        data.draw(
            st.sampled_from(
                ["", *(" ".join(phrase) for phrase in sorted(phrases_of(templates)))]
            )
        )
        for templates in (words.before, words.after)
    )

    for text in (
        f"{before} 4711 {after}",
        f"{before}: 4711, {after}.",
        f"{before} 4711 {after}".upper(),
    ):
        assert spoken_digits(text, language) == "4711"


@given(st.text(), LANGUAGES)
def test_any_text_is_a_pin_or_none(text: str, language: str) -> None:
    digits = spoken_digits(text, language)

    assert digits is None or (digits.isdigit() and 4 <= len(digits) <= 10)


@pytest.mark.parametrize(
    ("text", "language", "digits"),
    [
        ("My pen is 4711.", "en", "4711"),
        ("ES4711", "de", "4711"),
        ("Don't unlock, 4711", "en", None),
        ("Forget it, 4711", "en", None),
        ("lass es 4711", "de", None),
        ("n'ouvre pas 4711", "fr", None),
        ("It was 2024", "en", None),
    ],
)
def test_digits_between_words_are_a_pin_only_where_no_word_may_be_a_no(
    text: str, language: str, digits: str | None
) -> None:
    assert whole_digits(text, language) == digits
