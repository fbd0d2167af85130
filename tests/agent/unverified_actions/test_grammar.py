"""What holds for the words of every language."""

import pytest

from custom_components.chatterbox.agent.unverified_actions.grammar import GRAMMARS, Grammar, compiled

LANGUAGES = pytest.mark.parametrize("grammar", [pytest.param(grammar, id=code) for code, grammar in GRAMMARS.items()])


@LANGUAGES
def test_no_pattern_matches_an_empty_text(grammar: Grammar) -> None:
    patterns = compiled(grammar)

    assert patterns.report.search("") is None
    assert patterns.veto.search("") is None
    assert patterns.openings.search("") is None
    assert patterns.breaks.search("") is None


@LANGUAGES
def test_a_bare_name_is_neither_a_report_nor_an_opening(grammar: Grammar) -> None:
    patterns = compiled(grammar)

    assert patterns.report.search("x") is None
    assert patterns.openings.search("x") is None


@LANGUAGES
def test_characters_are_replaced_in_pairs(grammar: Grammar) -> None:
    assert len(grammar.folded) % 2 == 0


def test_a_pattern_refers_to_words_and_other_patterns() -> None:
    grammar = Grammar(
        reports=("<did>",),
        vetoes=("<year>",),
        openings="ok",
        breaks="but",
        closings="shall",
        words={"done": " on  turned_on\n off?"},
        patterns={"did": "i <done>"},
    )

    assert grammar.resolved("<did>$") == "i (?:on|turned on|off?)$"
