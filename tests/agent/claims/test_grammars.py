"""What holds for the words of every language."""

import pytest

from custom_components.chatterbox.agent.claims import GRAMMARS
from custom_components.chatterbox.agent.claims.grammar import Grammar, patterns_of, words

LANGUAGES = pytest.mark.parametrize("grammar", [pytest.param(grammar, id=code) for code, grammar in GRAMMARS.items()])


@LANGUAGES
def test_nothing_is_neither_claimed_nor_taken_back(grammar: Grammar) -> None:
    patterns = patterns_of(grammar)

    assert patterns.claim.search("") is None
    assert patterns.veto.search("") is None
    assert patterns.openings.search("") is None
    assert patterns.breaks.search("") is None


@LANGUAGES
def test_a_bare_name_is_neither_a_claim_nor_an_opening(grammar: Grammar) -> None:
    patterns = patterns_of(grammar)

    assert patterns.claim.search("x") is None
    assert patterns.openings.search("x") is None


@LANGUAGES
def test_characters_are_replaced_in_pairs(grammar: Grammar) -> None:
    assert len(grammar.folded) % 2 == 0


def test_words_may_hold_spaces_and_patterns() -> None:
    pattern = words(" on  turned_on\n off?")

    assert pattern == "(?:on|turned on|off?)"
