"""The labels of what rules may name."""

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.runtime.rule_labels import Labels
from tests.support.thorough import some_examples

_TEXTS = st.sampled_from(
    [
        "",
        " ",
        "Lock",
        "cover",
        "lock",
        "Anna",
        "Anna (1)",
        "x.y",
        "light.lamp",
        "22:00",
        "é",
    ]
)


@settings(max_examples=some_examples(300))
@given(st.dictionaries(_TEXTS.filter(bool), _TEXTS, max_size=6))
def test_every_word_means_one_id_and_no_word_is_the_id_of_another(
    names: dict[str, str],
) -> None:
    words = Labels.of(names)

    assert sorted(words.ids.values()) == sorted(names)
    assert all(words.id_of(words.label(found)) == found for found in names)
    assert all(word == found or word not in names for word, found in words.ids.items())
