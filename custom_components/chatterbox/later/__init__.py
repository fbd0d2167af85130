"""Plans for later: their times, and what becomes of them."""

from dataclasses import replace

from homeassistant.core import CALLBACK_TYPE, HomeAssistant
from homeassistant.helpers.start import async_at_started

from ..approvals.questions import Question
from ..offline.local_commands import recognizers
from ..repairs import async_report_removed_plans
from ..settings.agent import existing_agents
from ..speech.sentences import async_get_sentences
from ..tools.own.registry import own_tools
from ..turns.input import TurnInput
from ..turns.run import AgentTurns
from .acting import PlanRunner
from .plan_actions import async_register_plan_actions
from .plans import News
from .schedule import async_get_schedule
from .sentences import async_recognize_plan
from .telling import moment_text
from .tool import LATER, due_order


def async_setup_later(hass: HomeAssistant) -> None:
    """Offer the tool, and follow the plans once Home Assistant has started."""
    own_tools(hass).append(LATER)
    recognizers(hass)[LATER.definition.name] = async_recognize_plan
    async_register_plan_actions(hass)
    async_at_started(hass, async_get_schedule(hass).async_start)


def async_serve_plans(
    hass: HomeAssistant, agent: str, turns: AgentTurns, agent_id: str
) -> CALLBACK_TYPE:
    """Run the calls of an agent's plans in its turns; return what ends that. `agent_id` is an entity id."""
    return async_get_schedule(hass).async_serve(
        agent, PlanRunner(hass, turns, agent_id)
    )


async def async_with_news(
    hass: HomeAssistant, turn_input: TurnInput, agent: str, conversation_id: str
) -> tuple[TurnInput, list[News]]:
    """Return the input of a turn whose answer begins with the news that wait for the person or the place.

    A call that the agent has missed is asked about after the answer, and is then among
    the news.
    """
    schedule = async_get_schedule(hass)
    news = schedule.news_for(turn_input.speaker, turn_input.user_input.satellite_id)
    missed = [
        one for one in news if one.missed and one.plan and one.plan.agent == agent
    ]
    spoken_news = [one for one in news if one not in missed]
    here = replace(
        turn_input,
        user_input=replace(turn_input.user_input, conversation_id=conversation_id),
    )

    async def offer() -> Question | None:
        if question := await schedule.async_ask(missed[0], here):
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
    return turn_input, spoken_news


async def async_forget_plans(hass: HomeAssistant) -> None:
    """Remove the plans of removed agents, and report them: Home Assistant asks for no confirmation of ours."""
    agents = existing_agents(hass)
    gone = await async_get_schedule(hass).async_forget(
        lambda plan: plan.agent not in agents
    )
    for agent in {plan.agent for plan in gone}:
        removed = sorted((plan for plan in gone if plan.agent == agent), key=due_order)
        texts = [
            f"{moment_text(plan.due)}: {plan.text}" if plan.due else plan.text
            for plan in removed
        ]
        async_report_removed_plans(hass, agent, texts)
