"""Text is folded, split into words and compared alike everywhere, and shortened where it is too long."""

import re

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import Attachment, ToolDefinition
from custom_components.chatterbox.agent.text import (
    attachment_note,
    clipped,
    compared,
    find_name,
    find_tool,
    fold,
    mended_text,
    plain_name,
    runs,
    sendable_call_id,
    sendable_name,
    sendable_text,
    shortened,
    spoken_words,
)


@given(st.text(max_size=400), st.integers(80, 300))
def test_a_shortened_text_is_no_longer_than_it_may_be(text: str, length: int) -> None:
    short = shortened(text, length)
    assert len(short) <= length
    assert shortened(short, length) == short
    assert (short == text) == (len(text) <= length)


def test_a_shortened_text_keeps_both_ends_and_says_how_much_is_missing() -> None:
    text = "".join(map(str, range(1_000)))
    short = shortened(text, 200)
    begin, note, end = short.split("\n")
    assert text.startswith(begin)
    assert text.endswith(end)
    assert len(begin) > len(end) > 20
    assert (
        note
        == f"[… {len(text) - len(begin) - len(end)} characters were left out here to save room …]"
    )


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_clipped_text_stands_on_one_line(text: str, length: int) -> None:
    line = clipped(text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1
    assert clipped(line, length) == line


def test_a_clipped_text_ends_in_an_ellipsis() -> None:
    assert clipped("Turn on\n the  light", 12) == "Turn on the…"
    assert clipped("Turn on\n the  light", 17) == "Turn on the light"


@pytest.mark.parametrize(
    "name",
    [
        "Büro  lamp",
        "Bu\u0308ro\u00a0Lamp",
        "\u200fBÜRO\u200b\u3000lamp",
        "Ｂüro lamp\ufe0f",  # noqa: RUF001  # as devices write it
        "Büro lamp<|end|>",
    ],
)
def test_a_name_is_the_same_in_every_form_of_its_characters(name: str) -> None:
    assert plain_name(name) == "büro lamp"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Lamp\u00a0٣", "lamp 3"),
        ("Lamp ۳", "lamp 3"),
        ("Lamp \uff13", "lamp 3"),  # the width of Chinese signs
        ("Zoë\N{RIGHT SINGLE QUOTATION MARK}s", "zoë's"),
        ("Straße", "strasse"),
        ("Gäste\u00adbad", "gästebad"),
    ],
)
def test_a_name_is_the_same_in_the_signs_of_every_script(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Tür", "Tür"),
        ("TU\u0308R", "Tür"),
        ("tur", "Tur"),
        ("Tùr", None),
        ("İstanbul", "Istanbul"),
        ("ıstanbul", "Istanbul"),  # noqa: RUF001  # as Turks write it
        ("Lampe ٢", "Lampe 2"),
        ("Lampe", None),
    ],
)
def test_of_names_that_look_alike_the_surest_is_meant_and_never_one_of_several(
    name: str, found: str | None
) -> None:
    assert find_name(name, ["Tür", "Tur", "Istanbul", "Lampe 2", "Lampe 2"]) == found


@pytest.mark.parametrize("name", ["turn_on\u200b", "ＴＵＲＮ_on", "x__Turn_On\ufe0f"])  # noqa: RUF001  # as models write it
def test_a_tool_is_found_in_whatever_form_its_name_is_written(name: str) -> None:
    tool = ToolDefinition("home__turn_on", "", {})

    assert find_tool(name, (tool, ToolDefinition("home__turn_off", "", {}))) is tool


def test_a_name_is_compared_as_home_assistant_does() -> None:
    assert compared(" Große Lampe ") == "grosse lampe"


@pytest.mark.parametrize(
    ("text", "folded", "with_accents"),
    [
        ("Kitchen", "kitchen", "kitchen"),
        ("CAFE\N{COMBINING ACUTE ACCENT}", "cafe", "café"),
        ("Łazienka", "lazienka", "łazienka"),
        ("Straße", "strasse", "strasse"),
        ("Œuvre", "oeuvre", "œuvre"),
        (
            "\N{FULLWIDTH LATIN CAPITAL LETTER O}k",
            "ok",
            "\N{FULLWIDTH LATIN SMALL LETTER O}k",
        ),
        ("हिन्दी", "हिन्दी", "हिन्दी"),
    ],
)
def test_text_is_folded_with_or_without_its_accents(
    text: str, folded: str, with_accents: str
) -> None:
    assert fold(text) == folded
    assert fold(text, keep_accents=True) == with_accents


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "lamp 2, on_off",
            [("lamp", False), ("2", False), ("on", False), ("off", False)],
        ),
        ("küche 客厅tv", [("küche", False), ("客厅", True), ("tv", False)]),
        ("हिन्दी.", [("हिन्दी", False)]),
        (" _ ", []),
    ],
)
def test_text_is_split_into_words_and_runs_without_spaces(
    text: str, expected: list[tuple[str, bool]]
) -> None:
    assert list(runs(text)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Yes, please!", ("yes", "please")),
        ("  YES...\nplease. ", ("yes", "please")),
        ("d\N{RIGHT SINGLE QUOTATION MARK}accord", ("d'accord",)),
        ("vas-y \N{EM DASH} oui", ("vas", "y", "oui")),
        ("\N{INVERTED EXCLAMATION MARK}Sí!", ("sí",)),
        ("sí".encode().decode().replace("í", "i\N{COMBINING ACUTE ACCENT}"), ("sí",)),
        ("Straße", ("strasse",)),
        ("好的,OK。", ("好", "的", "ok")),
        ("47 11", ("47", "11")),
        ("", ()),
        (" ... ", ()),
    ],
)
def test_a_text_is_its_words_in_small_letters(
    text: str, words: tuple[str, ...]
) -> None:
    assert spoken_words(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "yes?",
        "yes\N{FULLWIDTH QUESTION MARK}",
        "\N{INVERTED QUESTION MARK}yes",
        '"yes"',
        "“yes”",
        "'yes'",
        "yes'",
        "«oui»",
        "「好」",
        "y_es",
        "yes 👍",
        "y\N{ZERO WIDTH SPACE}es",
        "yes\N{ZERO WIDTH JOINER}",
        "y\N{SOFT HYPHEN}es",
        "\N{RIGHT-TO-LEFT OVERRIDE}sey",
        "y\N{COMBINING LONG STROKE OVERLAY}es",
        "yes & no",
        "yes/no",
        "(yes)",
        "yes\0",
    ],
)
def test_what_nobody_can_say_is_not_read(text: str) -> None:
    assert spoken_words(text) is None


def test_characters_are_read_as_others() -> None:
    assert spoken_words("開門", folded="開开門门") == ("开", "门")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    words = spoken_words(text)

    assert words is None or all(words)


@given(st.text(st.characters(exclude_categories=())))
def test_texts_can_be_written_as_utf8(text: str) -> None:
    sent = sendable_text(text)
    assert sent.encode().decode() == sent


def test_only_half_characters_are_replaced() -> None:
    assert sendable_text("Grüße 💡") == "Grüße 💡"
    assert sendable_text("\ud83d\udca1 \ud83d") == "💡 \ufffd"


MISTRAL = "[A-Za-z0-9]{9}"


@given(st.text())
def test_a_sent_name_is_one_that_services_accept(name: str) -> None:
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", sendable_name(name))
    assert sendable_name(sendable_name(name)) == sendable_name(name)


@given(
    st.text(st.characters(exclude_categories=())),
    st.sampled_from([MISTRAL, ".{1,40}", "[A-Za-z0-9_-]+"]),
)
def test_a_sent_id_of_a_call_has_the_form_of_the_service(
    call_id: str, pattern: str
) -> None:
    sent = sendable_call_id(call_id, pattern)

    assert re.fullmatch(pattern, sent)
    assert sendable_call_id(call_id, pattern) == sent
    assert sent == call_id or not re.fullmatch(pattern, call_id)


def test_different_ids_stay_apart() -> None:
    ids = [f"functions.turn_on:{number}" for number in range(200)]

    assert len({sendable_call_id(call_id, MISTRAL) for call_id in ids}) == 200


def test_what_cannot_be_shown_is_named() -> None:
    named, nameless = (
        attachment_note(Attachment("audio/wav", b"", name))
        for name in ("half \ud83d.wav", "")
    )

    assert named.startswith(
        "[A file of type audio/wav named half \ufffd.wav was attached here."
    )
    assert nameless.startswith("[A file of type audio/wav was attached here.")


@pytest.mark.parametrize(
    ("torn", "mended"),
    [
        ("K\x00f8kken", "Køkken"),
        ("K\x00økken", "Køkken"),
        ("\x01Kitchen\x02", "Kitchen"),
        ("a\x00", "a"),
    ],
)
def test_letters_of_torn_escapes_are_mended(torn: str, mended: str) -> None:
    assert mended_text(torn) == mended
