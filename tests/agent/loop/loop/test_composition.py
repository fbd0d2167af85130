"""The plain words for turns that leave none."""

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.loop.loop import PlainComposer
from custom_components.chatterbox.agent.messages import ToolResult

ON, LOOK = ToolResult("1", "light_on", "ok"), ToolResult("2", "look", "dark")


@pytest.mark.parametrize("reason", StopReason)
def test_every_ending_has_words(reason: StopReason) -> None:
    assert PlainComposer().compose(reason, (), None).endswith(".")
    assert PlainComposer().compose(reason, (ON,), None).startswith("Done: light_on.")


def test_without_an_answer_each_tool_is_named_once() -> None:
    assert (
        PlainComposer().compose(StopReason.COMPLETED, (ON, LOOK, ON), None)
        == "Done: light_on, look."
    )


def test_tools_come_before_the_ending_and_the_error_after_it() -> None:
    text = PlainComposer().compose(
        StopReason.PROVIDER_FAILED, (ON,), ProviderUnreachable("no route")
    )
    assert text == "Done: light_on. The model could not be reached. (no route)"
