"""A yes covers what it was asked for, whoever asked it, and nothing else."""

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.loop.hooks import covers, join_terms

TERMS = st.lists(st.text(st.sampled_from("ab\\\n,"), max_size=4), max_size=4)


@given(TERMS, TERMS)
def test_a_yes_covers_what_was_part_of_the_question(asked: list[str], now: list[str]) -> None:
    assert covers(join_terms(asked), join_terms(now)) == (set(now) <= {"", *asked})


@given(TERMS, TERMS)
def test_other_terms_are_another_text(terms: list[str], others: list[str]) -> None:
    distinct, distinct_others = ([*dict.fromkeys(filter(None, each))] for each in (terms, others))
    assert (join_terms(terms) == join_terms(others)) == (distinct == distinct_others)


@given(st.text(st.characters(exclude_characters="\\\n")))
def test_terms_of_one_line_stay_as_they_are(terms: str) -> None:
    assert join_terms([terms]) == terms


def test_a_part_of_somebodys_terms_is_not_those_terms() -> None:
    assert not covers(join_terms(["unlock\nfront door"]), join_terms(["unlock"]))
    assert not covers(join_terms(["front door, back door"]), join_terms(["front door"]))
