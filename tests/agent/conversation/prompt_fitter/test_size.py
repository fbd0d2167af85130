"""The size of a request, by its parts."""

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.conversation.prompt_fitter import PromptSize

PARTS = st.integers(0, 10**6)


def test_a_prompt_is_all_its_parts() -> None:
    size = PromptSize(tools=1_000, instructions=2_000, history=1_096, window=8_192)
    assert size.prompt == 4_096
    assert size.share == 0.5


@given(
    st.builds(PromptSize, PARTS, PARTS, PARTS, st.integers(1, 10**6), PARTS),
    st.integers(1, 10**7),
)
def test_parts_are_scaled_to_what_the_service_counted(
    size: PromptSize, tokens: int
) -> None:
    reported = size.as_reported(tokens)
    if not size.prompt:
        assert reported is size
        return
    assert reported.is_reported
    assert reported.prompt == tokens
    assert (reported.window, reported.dropped) == (size.window, size.dropped)
    assert abs(reported.tools - size.tools * tokens / size.prompt) < 1
