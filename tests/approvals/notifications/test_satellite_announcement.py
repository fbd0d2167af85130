"""The outcome of a question is said at the satellite where it was asked: a real satellite in a real pipeline."""

import pytest
from homeassistant.components.assist_satellite import AssistSatelliteEntityFeature
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.approvals.questions import (
    Question,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from tests.support.satellites import Satellite, announcing_satellite
from tests.support.talk import SATELLITE
from tests.support.waiting_questions import ask, question

YES = GivenAnswer(approved=True, way=ApprovalWay.ACTION)


@pytest.fixture
async def satellite(hass: HomeAssistant) -> Satellite:
    return await announcing_satellite(hass)


async def answered(
    hass: HomeAssistant, questions: Question, answer: GivenAnswer = YES
) -> None:
    """Answer a question, and wait for everything in the background."""
    await async_get_approvals(hass).answer(questions.id, answer)
    await hass.async_block_till_done(wait_background_tasks=True)


@pytest.mark.parametrize("approved", [True, False])
async def test_the_outcome_of_an_answer_from_elsewhere_is_announced_without_markup(
    hass: HomeAssistant, satellite: Satellite, *, approved: bool
) -> None:
    questions = question(satellite_id=SATELLITE)
    ask(hass, questions).speech = "**It is** unlocked."

    await answered(
        hass, questions, GivenAnswer(approved=approved, way=ApprovalWay.ACTION)
    )

    assert satellite.heard == ["It is unlocked."]


@pytest.mark.parametrize(
    ("satellite_id", "speech"),
    [(None, "Done."), ("assist_satellite.gone", "Done."), (SATELLITE, "")],
)
async def test_nothing_is_announced_without_a_satellite_or_without_words(
    hass: HomeAssistant, satellite: Satellite, satellite_id: str | None, speech: str
) -> None:
    questions = question(satellite_id=satellite_id)
    ask(hass, questions).speech = speech

    await answered(hass, questions)

    assert satellite.heard == []


async def test_an_answer_at_the_satellite_is_not_announced(
    hass: HomeAssistant, satellite: Satellite
) -> None:
    questions = question(satellite_id=SATELLITE)
    ask(hass, questions)

    async_get_approvals(hass).take(
        questions.id, GivenAnswer(approved=True, way=ApprovalWay.VOICE)
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    assert satellite.heard == []


async def test_a_satellite_that_cannot_announce_is_left_alone(
    hass: HomeAssistant, satellite: Satellite, caplog: pytest.LogCaptureFixture
) -> None:
    satellite._attr_supported_features = AssistSatelliteEntityFeature(0)  # noqa: SLF001  # Home Assistant's name
    satellite.async_write_ha_state()
    questions = question(satellite_id=SATELLITE)
    ask(hass, questions)

    await answered(hass, questions)

    assert satellite.heard == []
    assert "Could not notify" not in caplog.text


async def test_a_satellite_that_fails_is_logged_and_no_more(
    hass: HomeAssistant, satellite: Satellite, caplog: pytest.LogCaptureFixture
) -> None:
    satellite.is_broken = True
    questions = question(satellite_id=SATELLITE)
    ask(hass, questions)

    await answered(hass, questions)

    assert f"Could not notify {SATELLITE}: no loudspeaker" in caplog.text
