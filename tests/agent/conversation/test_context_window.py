"""How much a model is taken to read."""

from custom_components.chatterbox.agent.conversation.prompt_fitter import (
    DEFAULT_WINDOW,
    LEAST_WINDOW,
    ContextWindow,
)


def test_nobody_knows_at_first() -> None:
    window = ContextWindow()
    assert window.tokens == DEFAULT_WINDOW
    assert not window.is_known


def test_the_server_is_believed_more_than_a_guess() -> None:
    window = ContextWindow(guess=128_000)
    assert (window.tokens, window.is_known) == (128_000, False)
    window.reported(8_192)
    assert (window.tokens, window.is_known) == (8_192, True)


def test_a_person_is_believed_more_than_the_server() -> None:
    window = ContextWindow(16_384)
    window.reported(131_072)
    assert window.tokens == 16_384
    assert window.is_chosen
    assert window.is_known


def test_a_refusal_is_a_proof() -> None:
    window = ContextWindow(16_384)
    window.refused(12_000)
    window.refused(14_000)
    assert window.tokens == 12_000
    assert ContextWindow().is_chosen is False


def test_a_refusal_that_makes_no_sense_leaves_room_to_talk() -> None:
    window = ContextWindow()
    window.refused(3)
    assert window.tokens == LEAST_WINDOW
    assert window.is_known
