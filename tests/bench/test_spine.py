"""The files that a turn enters, and the calls between them, stay as few as they are, or shrink."""

import pytest

from bench.spine import SCENARIOS, report

pytestmark = pytest.mark.usefixtures("socket_enabled")


# One more each than `python -m bench.spine` prints: earlier tests of a process leave a
# filter of logs.
@pytest.mark.parametrize(
    ("scenario", "sentence", "most", "most_switches", "entered_too"),
    [
        ("light", "turn on the kitchen light", 104, 1_525, "tools/dispatch.py"),
        ("approval", "unlock the front door", 111, 4_240, "approvals/questions.py"),
        ("api", "turn on the kitchen light", 113, 1_500, "responses/views.py"),
    ],
)
async def test_a_turn_enters_a_bounded_number_of_files(
    scenario: str, sentence: str, most: int, most_switches: int, entered_too: str
) -> None:
    await SCENARIOS[scenario](sentence)  # which fills what is kept of names
    entered = await SCENARIOS[scenario](sentence)

    assert {
        "agent/loop/loop.py",
        "agent/loop/next_step.py",
        "turns/run.py",
        entered_too,
    } <= {*entered.files}
    assert len(entered.files) <= most, report(entered, lists=True)
    assert len(entered.files) < entered.switches.total() <= most_switches, report(
        entered, lists=True
    )
