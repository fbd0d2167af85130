"""Plans for later: their times, and what becomes of them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers.start import async_at_started

from ..approvals.questions import Question
from ..effects.recognition import RecognizedRequest
from ..offline.local_commands import Talk, recognizers
from ..repairs import async_report_removed_plans
from ..settings.agent import existing_agents
from ..speech.sentences import async_get_sentences
from ..tools.own.registry import own_tools
from ..turns.input import Opener, TurnInput, openers
from ..turns.run import turn_takers
from .acting import PlanRunner
from .broadcast import BROADCAST, async_recognize_broadcast
from .plan_actions import async_register_plan_actions
from .plans import waiting_news
from .ringing import recognize_while_ringing
from .schedule import async_get_schedule
from .sentences import async_recognize_plan
from .telling import moment_text
from .tool import LATER, due_order


def async_setup_later(hass: HomeAssistant) -> None:
    """Offer the tools, and follow the plans once Home Assistant has started."""
    own_tools(hass).extend((LATER, BROADCAST))
    # The words of a message may name a time: "dinner is ready in ten minutes".
    recognizers(hass)[BROADCAST.definition.name] = async_recognize_broadcast
    recognizers(hass)[LATER.definition.name] = _async_recognize
    schedule = async_get_schedule(hass)
    turn_takers(hass).append(
        lambda agent, turns: schedule.async_serve(agent, PlanRunner(hass, turns))
    )
    openers(hass).append(Opener(waiting_news(hass), partial(_async_open, hass)))
    async_register_plan_actions(hass)
    async_at_started(hass, schedule.async_start)


async def _async_recognize(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return a request about an alarm that rings, or else about plans; see `async_recognize_plan`."""
    return recognize_while_ringing(hass, user_input) or await async_recognize_plan(
        hass, user_input, talk, found
    )


async def _async_open(
    hass: HomeAssistant,
    turn_input: TurnInput,
    agent: str,
    conversation_id: str,
) -> tuple[TurnInput, Callable[[], Awaitable[None]]]:
    """Return the input of a turn whose answer begins with the news that wait for the person or the place.

    A call that the agent has missed is asked about after the answer, and is then among
    the news.
    """
    schedule = async_get_schedule(hass)
    news = schedule.news_for(
        turn_input.speaker,
        turn_input.user_input.satellite_id,
    )
    missed = [
        one for one in news if one.missed and one.plan and one.plan.agent == agent
    ]
    spoken_news = [one for one in news if one not in missed]
    here = replace(
        turn_input,
        user_input=replace(turn_input.user_input, conversation_id=conversation_id),
    )

    async def offer() -> Question | None:
        question = await schedule.async_ask(missed[0], here)
        if question:
            spoken_news.append(missed[0])
        return question

    if missed and not turn_input.reply:
        turn_input = replace(turn_input, offer=offer)
    if spoken_news:
        sentences = await async_get_sentences(hass, turn_input.user_input.language)
        words = sentences["later_away"].format(
            what=" ".join(one.text for one in spoken_news)
        )
        turn_input = replace(
            turn_input, prefix=" ".join(filter(None, (words, turn_input.prefix)))
        )
    satellite_id = turn_input.user_input.satellite_id

    async def end() -> None:
        if spoken_news:
            await schedule.async_heard(spoken_news, satellite_id)

    return turn_input, end


async def async_forget_plans(hass: HomeAssistant) -> None:
    """Remove the plans of removed agents, and report them: Home Assistant asks for no confirmation of ours."""
    agents = existing_agents(hass)
    gone = await async_get_schedule(hass).async_forget(
        lambda plan: plan.agent not in agents
    )
    for agent in {plan.agent for plan in gone}:
        removed = sorted(
            (plan for plan in gone if plan.agent == agent),
            key=due_order,
        )
        texts = [
            f"{moment_text(plan.due)}: {plan.text}" if plan.due else plan.text
            for plan in removed
        ]
        async_report_removed_plans(
            hass,
            agent,
            texts,
        )
