"""An answer is cut into what it states."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.unverified_actions.grammar import Grammar, compiled
from custom_components.chatterbox.agent.unverified_actions.statements import statements, unfinished

PATTERNS = compiled(
    Grammar(
        reports=("done",),
        vetoes=("not",),
        openings="(?:okay|sure)",
        breaks=r",? \bbut\b",
        closings=r"shall\b",
        folded="燈灯",
    )
)

PIECES = st.sampled_from(
    [
        "It is on",
        "done",
        ". ",
        "!",
        "? ",
        "。",
        ": ",
        ", ",
        " - ",
        '"',
        "“",
        "”",
        "„",
        "**",
        " ",
        "but ",
        "shall I",
        "a " * 70,
    ]
)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Done. All is well!", ["done", "all is well"]),
        ("First\nsecond\n\nthird", ["first", "second", "third"]),
        ("It is 20.5 °C at 22:15.", ["it is 20.5 °c at 22:15"]),
        ("Two things: one; two", ["two things", "one", "two"]),
        ("灯开了。门关了!", ["灯开了", "门关了"]),
        ("", []),
        (" \n . ", []),
    ],
)
def test_sentences_end_at_punctuation_and_lines(text: str, stated: list[str]) -> None:
    assert list(statements(text, PATTERNS)) == stated


@pytest.mark.parametrize("mark", ["?", "?!", "\N{FULLWIDTH QUESTION MARK}", "???"])
def test_questions_state_nothing(mark: str) -> None:
    assert list(statements(f"Is it on{mark} It is.", PATTERNS)) == ["it is"]


@pytest.mark.parametrize("mark", [", ", " - ", " \N{EN DASH} ", "\N{EM DASH}", "\N{FULLWIDTH COMMA}"])
def test_a_closing_question_leaves_what_stands_before_it(mark: str) -> None:
    assert list(statements(f"It is on{mark}shall I, or not? It is.", PATTERNS)) == ["it is on", "it is"]


@pytest.mark.parametrize("text", ["Is it on, or off?", "Shall I?", "Is it on, shallow?", "It is on shall I?"])
def test_any_other_question_states_nothing(text: str) -> None:
    assert list(statements(text, PATTERNS)) == []


def test_a_dash_after_the_end_of_a_sentence_joins_nothing() -> None:
    assert list(statements("One. - Two: - three", PATTERNS)) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("", ""),
        ("It is on. ", " "),
        ("It is on. It", " It"),
        ("灯开着。门", "门"),
        ('It is on. He said: "Yes. No. ', ' "Yes. No. '),
        ('It is "on. Or" off', 'It is "on. Or" off'),
        (f'It is on. "{"x" * 130}. Well', " Well"),
        ("x " * 600, "x " * 499),
    ],
)
def test_what_is_unfinished_begins_with_a_sentence_outside_of_quotation_marks(line: str, rest: str) -> None:
    assert unfinished(line) == rest


@given(st.lists(PIECES).map("".join), st.lists(PIECES).map("".join))
def test_what_follows_is_stated_after_the_unfinished_part_as_after_the_line(line: str, rest: str) -> None:
    whole, end = list(statements(line + rest, PATTERNS)), list(statements(unfinished(line) + rest, PATTERNS))

    assert whole[len(whole) - len(end) :] == end


@pytest.mark.parametrize(
    "quoted",
    [
        *('"on"', "“on”", "„on“", "„on”", "”on”", "«on»", "« on »", "»on«", "「on」", "『on』", "《on》"),
        "\N{LEFT SINGLE QUOTATION MARK}on\N{RIGHT SINGLE QUOTATION MARK}",
    ],
)
def test_quotations_are_named_only(quoted: str) -> None:
    assert list(statements(f"It is called {quoted} here", PATTERNS)) == ["it is called x here"]


def test_an_apostrophe_opens_no_quotation() -> None:
    text = "I've heard Anna's and the dogs' voices".replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")

    assert list(statements(text, PATTERNS)) == ["i've heard anna's and the dogs' voices"]


@pytest.mark.parametrize("text", ["**Done**", "# Done", "_done_", "✅ Done 🎉", "- done", "¡Done!", "`done`", "> done"])
def test_markup_and_signs_are_left_out(text: str) -> None:
    assert list(statements(text, PATTERNS)) == ["done"]


def test_openings_are_left_out() -> None:
    assert list(statements("Okay, sure. Okay, done. Okay", PATTERNS)) == ["done"]


def test_a_word_that_only_begins_like_an_opening_stays() -> None:
    assert list(statements("Surely done", PATTERNS)) == ["surely done"]


def test_a_break_begins_another_statement() -> None:
    assert list(statements("One, but two", PATTERNS)) == ["one", "two"]


def test_wide_characters_and_spaces_are_read_like_narrow_ones() -> None:
    assert list(statements("\uff2f\uff2e\uff01\u202f\uff2f\uff2b", PATTERNS)) == ["on", "ok"]


@given(st.text(), st.text())
def test_lines_do_not_depend_on_each_other(first: str, second: str) -> None:
    both = list(statements(f"{first}\n{second}", PATTERNS))

    assert both == [*statements(first, PATTERNS), *statements(second, PATTERNS)]


@given(st.text())
def test_statements_are_in_the_form_that_grammars_read(text: str) -> None:
    for statement in statements(text, PATTERNS):
        assert statement
        assert statement == " ".join(statement.split())
        assert "\n" not in statement
        assert "?" not in statement
