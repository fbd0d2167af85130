"""Text that may contain a PIN is detected, also where the PIN itself cannot be understood."""

import pytest
from hypothesis import given, strategies as st
from unicode_rbnf import RbnfEngine

from custom_components.chatterbox.approvals.answers.language import WORDINGS
from custom_components.chatterbox.approvals.answers.yes_or_no import Meaning
from custom_components.chatterbox.approvals.pin.pin_detection import may_be_pin
from custom_components.chatterbox.approvals.pin.spoken_digits import spoken_digits
from tests.behaviour.confirmation.labelled import Kind, question_in, read_answers

LANGUAGES = st.sampled_from(sorted(WORDINGS))
PINS = st.text("0123456789", min_size=4, max_size=10)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "4711"),
        ("en", "4711?"),
        ("en", "(47) 11"),
        ("en", "#4711"),
        ("en", "4" + "\N{ZERO WIDTH SPACE}" + "711"),
        ("en", "٤٧١١"),
        ("en", "No, it's 4711!"),
        ("en", "yes, 47/11"),
        ("en", "four thousand seven hundred eleven"),
        ("en", "1 2 3 4 5 6 7 8 9 10 11"),
        ("de", "Viertausendsiebenhundertelf"),
        ("en", "two thousand, thank you"),
        ("de", "viertausend"),
        ("de", "4711, tausend Dank"),
        ("it", "quattromila, grazie mille"),
        ("zh", "四千七百一十一"),
        ("pt", "cem mil"),
        ("zh", "四万一千"),
        ("fi", "4711"),
        ("fi", "kyllä, 4 7 1 1"),
        ("ar", "٤٧١١"),
    ],
)
def test_nothing_but_a_number_is_suspected_whatever_was_asked(
    language: str, text: str
) -> None:
    assert may_be_pin(text, language, is_asked_for=False)
    assert may_be_pin(text, language, is_asked_for=True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "for seven one one"),
        ("en", "four seven"),
        ("en", "I told you, it is 4711"),
        ("en", "47x11"),
        ("en", "wake me at 12:30"),
        ("en", "for to seven one"),
        ("en", "one one one"),
        ("en", "forty seven"),
        ("en", "no, ten"),
        ("en", "yes, at 10:15"),
        ("de", "in 1984"),
        ("de", "tausend"),
        ("es", "mil"),
        ("fi", "neljätuhatta seitsemänsataayksitoista"),
        ("ko", "사천칠백십일"),
        ("en", "The code is I-284"),
        ("en", "Mako is high in 2-8-4"),
        ("en", "Mako is high in two eight four"),
        ("en", "40cm in length"),
        ("en", "set a timer for 10 minutes"),
        ("de", "Stelle die Heizung auf 21 Grad"),
        ("de", "Ein Wort mit ٤"),
    ],
)
def test_other_words_with_a_number_are_suspected_only_if_a_pin_was_asked_for(
    language: str, text: str
) -> None:
    assert may_be_pin(text, language, is_asked_for=True)
    assert not may_be_pin(text, language, is_asked_for=False)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", ""),
        ("en", "yes"),
        ("en", "oh yes"),
        ("en", "No, never mind."),
        ("en", "Yes, unlock the front door."),
        ("en", "turn on the light"),
        ("en", "set a timer for ten minutes"),
        ("en", "what was the question?"),
        ("de", "Stelle die Heizung auf zwanzig Grad"),
    ],
)
def test_other_words_are_not_suspected(language: str, text: str) -> None:
    question = question_in("en")

    assert not may_be_pin(text, language, question, is_asked_for=True)
    assert not may_be_pin(text, language, question, is_asked_for=False)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "tausend Dank"),
        ("de", "hundertprozentig"),
        ("en", "a hundred percent"),
        ("en", "a thousand thanks"),
        ("es", "mil gracias"),
        ("es", "cien por cien"),
        ("fr", "mille mercis"),
        ("it", "grazie mille"),
        ("it", "no grazie mille"),
        ("nl", "duizend dank"),
        ("pl", "na sto procent"),
        ("pt", "mil obrigado"),
        ("pt", "cem por cento"),
        ("sv", "tack så mycket"),
        ("sv", "tusen tack"),
        ("zh", "千万别"),
        ("zh", "千万不要"),
        ("zh", "万一"),
    ],
)
def test_thanks_and_emphasis_are_not_suspected(language: str, text: str) -> None:
    assert not may_be_pin(text, language, is_asked_for=True)
    assert not may_be_pin(text, language, is_asked_for=False)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "eine Frage"),
        ("de", "ein Moment, eine Frage"),
        ("en", "one moment"),
        ("en", "no one"),
        ("en", "oh"),
        ("en", "oh oh"),
        ("en", "channel one"),
        ("en", "ten minutes"),
        ("en", "twenty one minutes"),
        ("es", "un momento"),
        ("fr", "un moment"),
        ("it", "un momento"),
        ("nl", "een vraag"),
        ("pl", "jeden moment"),
        ("pt", "um momento"),
        ("sv", "en fråga"),
        ("zh", "一下"),
        ("zh", "等一下好吗"),
    ],
)
def test_a_single_number_is_no_part_of_a_pin(language: str, text: str) -> None:
    assert not may_be_pin(text, language, is_asked_for=True)


@pytest.mark.parametrize("language", WORDINGS)
def test_a_plain_answer_is_never_suspected(language: str) -> None:
    question = question_in(language)
    plain = [
        one.text for one in read_answers(language) if one.answer is not Meaning.OTHER
    ]

    assert [
        text
        for text in plain
        if may_be_pin(text, language, question, is_asked_for=True)
    ] == []


@pytest.mark.parametrize("language", WORDINGS)
def test_requests_are_not_suspected(language: str) -> None:
    requests = [
        one.text
        for one in read_answers(language)
        if one.kind in (Kind.UNRELATED, Kind.MORE, Kind.DEVICE)
    ]

    assert requests
    assert [
        text for text in requests if may_be_pin(text, language, is_asked_for=False)
    ] == []


@given(LANGUAGES, st.integers(1000, 99_999))
def test_a_pin_that_is_said_as_one_number_is_suspected(language: str, pin: int) -> None:
    spelled = RbnfEngine.for_language(language).format_number(pin).text

    assert may_be_pin(spelled, language, is_asked_for=True)
    assert may_be_pin(f"{pin}", language, is_asked_for=False)


@given(LANGUAGES, PINS, st.text(max_size=30), st.text(max_size=30))
def test_digits_are_suspected_in_any_words_if_a_pin_was_asked_for(
    language: str, pin: str, before: str, after: str
) -> None:
    assert may_be_pin(f"{before}{pin}{after}", language, is_asked_for=True)


@given(
    LANGUAGES,
    PINS,
    st.sampled_from(
        ["", " ", ", ", "-", ". ", "?", "/", " # ", "\N{ZERO WIDTH JOINER}"]
    ),
)
def test_digits_alone_are_always_suspected(
    language: str, pin: str, between: str
) -> None:
    assert may_be_pin(between.join(pin), language, is_asked_for=False)


@given(LANGUAGES, st.text(max_size=60), st.booleans())
def test_what_is_understood_as_a_pin_is_suspected(
    language: str,
    text: str,
    is_asked_for: bool,  # noqa: FBT001  # drawn by hypothesis
) -> None:
    assert (
        may_be_pin(text, language, is_asked_for=is_asked_for)
        or spoken_digits(text, language) is None
    )


@pytest.mark.parametrize(
    ("text", "tag", "is_pin"),
    [
        ("четыре семь один один", "ru", True),
        ("4711", "ru", True),
        ("no", "ru", False),
        ("what time is it", "en", False),
        ("four seven one one", "en", True),
    ],
)
def test_whatever_nobody_understands_may_be_the_pin_that_is_asked_for(
    text: str, tag: str, *, is_pin: bool
) -> None:
    assert may_be_pin(text, tag, is_asked_for=True) is is_pin


def test_where_none_is_asked_for_foreign_words_are_words() -> None:
    assert not may_be_pin("включи свет", "ru", is_asked_for=False)


@pytest.mark.parametrize("unit", ["one ", "thousand ", "a ", "4", "yes "])
def test_words_longer_than_any_answer_are_no_pin(unit: str) -> None:
    assert not may_be_pin(unit * 200_000, "en", is_asked_for=True)


@pytest.mark.parametrize("text", ["seven", "Seven, please.", "eleven"])
def test_a_digit_that_is_said_by_itself_is_a_part_of_a_pin_that_is_asked_for(
    text: str,
) -> None:
    assert may_be_pin(text, "en", is_asked_for=True)
    assert not may_be_pin(text, "en", is_asked_for=False)
