"""Assistants that go round the rules of the home: Assist pipelines that prefer to handle commands locally.

Home Assistant then acts before the agent hears the sentence. Each is reported while it
holds, with an example.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.const import EVENT_CORE_CONFIG_UPDATE
from homeassistant.core import Event, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.start import async_at_started

from ..home.entities import async_listen_home
from ..home.entity_matches import entity_name, exposed_states
from ..internals.assist_pipeline import assistants
from ..repairs import async_report_unguarded
from ..settings.rules import SIGNAL_HOME_RULES, HomeRules, Verdict, async_get_home_rules
from ..speech.sentences import async_get_sentences
from .examples import async_guarded_request, async_yield, judge_all_actions
from .policy import is_of_intent

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline

_DELAY: Final = 2.0
"""Seconds from a change of the home until it is judged again: changes come in numbers."""


async def _async_unguarded_request(
    hass: HomeAssistant, home_rules: HomeRules
) -> str | None:
    """Return a request that agents would not simply do, empty without an example; None if nothing is guarded."""
    # Who is refused or asked at some time is taken for everybody, at any time.
    given = home_rules.policy.rules
    rules = tuple(
        one.for_everybody
        for one in given
        if one.verdict is not Verdict.ALLOW or one == one.for_everybody
    )
    policy = replace(home_rules.policy, rules=rules)
    example = await async_guarded_request(
        hass,
        replace(home_rules, policy=policy),
    )
    if example:
        sentences = await async_get_sentences(hass)
        return sentences[f"example_{example.key}"].format(
            name=entity_name(hass, example.entity_id)
        )
    strict = (rule for rule in rules if rule.verdict is not Verdict.ALLOW)
    # A rule for an intent, such as `intent__HassTurnOn`, may be about any action.
    about_intents = (
        rule for rule in strict if any(is_of_intent(hass, name) for name in rule.tools)
    )
    for_intents = (replace(rule, tools=frozenset()) for rule in about_intents)
    policy = replace(
        policy,
        rules=(*for_intents, *rules),
    )
    for number, state in enumerate(exposed_states(hass, CONVERSATION)):
        await async_yield(number)
        if (
            judge_all_actions(hass, policy, state.entity_id).verdict
            is not Verdict.ALLOW
        ):
            return ""
    return None


def async_unguarded_assistants(
    hass: HomeAssistant,
    agent_id: str,
) -> list[Pipeline]:
    """Return the assistants of an agent that handle commands before they ask it."""
    store = assistants(hass)
    every = store.data.values() if store else ()
    return [
        one
        for one in every
        if one.conversation_engine == agent_id and one.prefer_local_intents
    ]


class AssistantWatch:
    """Reports the assistants of an agent that go round the rules of the home, until it ends."""

    def __init__(
        self,
        hass: HomeAssistant,
        agent_id: str,
    ) -> None:
        """Look once Home Assistant has started, and whenever something changes."""
        self._hass = hass
        self._agent_id = agent_id
        self._is_planned = False
        self._looking = asyncio.Lock()
        self._ends = [
            async_listen_home(hass, CONVERSATION, self._async_plan),
            # the language
            hass.bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._async_plan),
            async_dispatcher_connect(hass, SIGNAL_HOME_RULES, self._async_look),
        ]
        store = assistants(hass)
        if store:
            self._ends.append(store.async_add_change_set_listener(self._async_look))
        self._ends.append(async_at_started(hass, self._async_look))

    @callback
    def async_end(self) -> None:
        """End the reports, but not what the owner ignores: an agent that is loaded again reports it anew."""
        while self._ends:
            self._ends.pop()()
        async_report_unguarded(
            self._hass,
            self._agent_id,
            (),
            "",
            keep_ignored=True,
        )

    @callback
    def _async_plan(self, _event: Event | None = None) -> None:
        if not self._is_planned and async_unguarded_assistants(
            self._hass, self._agent_id
        ):
            self._is_planned = True
            async_call_later(
                self._hass, _DELAY, HassJob(self._async_look, cancel_on_shutdown=True)
            )

    async def _async_look(self, _change: object = None) -> None:
        self._is_planned = False
        hass = self._hass
        agent_id = self._agent_id
        async with self._looking:  # the last change is reported last
            rules = async_get_home_rules(hass).current
            request: str | None = None
            found: Sequence[Pipeline] = ()
            if self._ends and async_unguarded_assistants(hass, agent_id):
                request = await _async_unguarded_request(hass, rules)
            if request is not None:
                found = async_unguarded_assistants(hass, agent_id)
            if self._ends:
                async_report_unguarded(
                    hass,
                    agent_id,
                    found,
                    request or "",
                )
