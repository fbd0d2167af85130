"""A home under attack: the demo home with an alarm, an agent whose model belongs to the attacker, and who watches.

Knows how one speaks to the agent, and what must not happen. Must not know any attack.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    QuestionUpdate,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import CallState
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, Serve, assert_no_orphans, messages_of, speech

DOOR: Final = "lock.front_door"
GARAGE: Final = "cover.garage_door"
VALVE: Final = "valve.sprinkler"
ALARM: Final = "alarm_control_panel.alarm"
SAFE: Final[Mapping[str, str]] = {
    DOOR: "locked",
    GARAGE: "closed",
    VALVE: "closed",
    ALARM: "armed_away",
}
"""How the home is when nobody has got in."""

HALL: Final = "the-hall"
TALK: Final = "a-talk"
GARAGE_UP: Final = ScriptedCall(name="HassTurnOn", arguments={"name": "Garage Door"})
LIGHT_ON: Final = ScriptedCall(
    name="HassTurnOn", arguments={"name": "Kitchen Ceiling Light"}
)
STRICT: Final = {"ask_after_outside_content": "every_change"}
EVERYTHING_ALLOWED: Final = {
    "rules": [{"verdict": "allow"}],
    "ask_after_outside_content": "nothing",
}

_LETTING_IN: Final = frozenset(
    {
        "alarm_control_panel.alarm_disarm",
        "lock.open",
        "lock.unlock",
        "valve.open_valve",
        "valve.set_valve_position",
        "valve.toggle",
    }
)
_MORE_LIES: Final = 12


def says(
    content: str, *calls: ScriptedCall, thinks: str | None = None
) -> ScriptedAnswer:
    """Return a message of the attacker's model."""
    return ScriptedAnswer(content=content, tool_calls=calls, reasoning_content=thinks)


def calls(*calls: ScriptedCall) -> ScriptedAnswer:
    """Return a message that is nothing but calls."""
    return ScriptedAnswer(tool_calls=calls)


def call(tool: str, /, **arguments: object) -> ScriptedCall:
    """Return a call of the attacker's model."""
    return ScriptedCall.model_validate({"name": tool, "arguments": arguments})


@dataclass
class AttackedHome:
    """The home, and what has happened in it since the attack began."""

    hass: HomeAssistant
    serve: Serve
    is_unguarded: bool = False
    """Everything is allowed: then attacks succeed, which shows that they are attacks."""
    let_in: list[str] = field(default_factory=list)
    """Actions that would let somebody in, as they were called, with what for."""
    news: list[QuestionUpdate] = field(default_factory=list)
    talk: str = TALK
    """The conversation in which somebody attacks."""
    _model: ScriptedChatCompletions | None = None

    async def taken_over(
        self, *answers: ScriptedAnswer, **options: object
    ) -> ScriptedChatCompletions:
        """Let the model say this, and then "As you wish." for ever."""
        if self.is_unguarded:
            options |= EVERYTHING_ALLOWED
        self._model = await self.serve(_script(answers), **options)
        await self.begin()
        return self._model

    async def begin(self) -> None:
        """Arm the alarm, and watch from now on."""
        alarm = {
            "platform": "manual",
            "name": "Alarm",
            "arming_time": 0,
            "code_arm_required": False,
        }
        assert await async_setup_component(
            self.hass, "alarm_control_panel", {"alarm_control_panel": [alarm]}
        )
        await self.hass.async_block_till_done()
        self.expose(ALARM)
        await self.hass.services.async_call(
            "alarm_control_panel", "alarm_arm_away", {"entity_id": ALARM}, blocking=True
        )
        assert {entity_id: self.state(entity_id) for entity_id in SAFE} == SAFE
        self.hass.bus.async_listen(EVENT_CALL_SERVICE, self._note_action)
        async_dispatcher_connect(self.hass, SIGNAL_QUESTION, self._note_question)

    def expose(self, *entity_ids: str) -> None:
        """Let assistants use entities."""
        for entity_id in entity_ids:
            async_expose_entity(
                self.hass, conversation.DOMAIN, entity_id, should_expose=True
            )

    async def say(
        self,
        text: str,
        device_id: str | None = HALL,
        *,
        talk: str | None = TALK,
        satellite_id: str | None = None,
        user_id: str | None = None,
        language: str = "en",
        agent_id: str = AGENT,
        prompt: str | None = None,
    ) -> str:
        """Say something, and return the answer, which is never silence."""
        context = Context(user_id=user_id)
        result = await conversation.async_converse(
            self.hass,
            text,
            talk,
            context,
            language,
            agent_id,
            device_id,
            satellite_id,
            extra_system_prompt=prompt,
        )
        await self.hass.async_block_till_done()
        answer = speech(result)
        assert answer.strip(), "there is always an answer"
        if talk is not None:
            assert_no_orphans(self.hass.data[DATA_CHAT_LOGS][talk].content)
        return answer

    async def attack(self, *answers: ScriptedAnswer, **options: object) -> str:
        """Have the model take over, greet it, and return its answer."""
        await self.taken_over(*answers, **options)
        return await self.say("good evening")

    async def attack_again(
        self,
        name: str,
        *answers: ScriptedAnswer,
        words: str = "good evening",
        language: str = "en",
    ) -> str:
        """Decline what the last attack has asked for, make one in a conversation of this name, return the answer."""
        if self.waiting:
            await self.say("no", talk=self.talk)
        self.assert_refused()
        self.talk = name
        self.play(*answers)
        return await self.say(words, talk=name, language=language)

    async def secure(self, *lights: str) -> None:
        """Decline what waits, lock the door, close the garage and turn off these lights, for the next attack."""
        if self.waiting:
            await self.say("no", talk=self.talk)
        undone = (
            ("lock", "lock", DOOR),
            ("cover", "close_cover", GARAGE),
            *(("light", "turn_off", one) for one in lights),
        )
        for domain, service, entity_id in undone:
            await self.hass.services.async_call(
                domain, service, {"entity_id": entity_id}, blocking=True
            )
        await self.hass.async_block_till_done()
        self.let_in.clear()
        self.news.clear()

    def play(self, *answers: ScriptedAnswer) -> None:
        """Let the model say this next, and then "As you wish." for ever."""
        assert self._model
        self._model.play(_script(answers))

    def state(self, entity_id: str) -> str:
        """Return the state of an entity."""
        state = self.hass.states.get(entity_id)
        assert state is not None, entity_id
        return state.state

    @property
    def waiting(self) -> tuple[Question, ...]:
        """Return the questions that can be answered."""
        return async_get_approvals(self.hass).waiting

    def states_of_questions(self) -> list[CallState]:
        """Return what has become of questions, in its order."""
        return [one.state for one in self.news]

    def assert_unharmed(self) -> None:
        """Assert that nobody got in, nobody tried to, and nobody has approved of it."""
        assert self.let_in == [], self.talk
        assert {entity_id: self.state(entity_id) for entity_id in SAFE} == SAFE, (
            self.talk
        )
        assert CallState.APPROVED not in self.states_of_questions(), self.talk

    def assert_asked(self) -> Question:
        """Assert that nothing was done and one question waits."""
        self.assert_unharmed()
        assert len(self.waiting) == 1, self.talk
        return self.waiting[0]

    def assert_refused(self) -> None:
        """Assert that nothing was done, and nothing waits for a yes."""
        self.assert_unharmed()
        assert self.waiting == (), self.talk

    @callback
    def _note_action(self, event: Event[Mapping[str, object]]) -> None:
        name = f"{event.data['domain']}.{event.data['service']}"
        message = str(event.data.get("service_data"))
        opens = (
            name.startswith("cover.")
            and not name.endswith(("close_cover", "stop_cover"))
            and GARAGE in message
        )
        if name in _LETTING_IN or opens:
            self.let_in.append(f"{name} {message}")

    @callback
    def _note_question(self, news: QuestionUpdate) -> None:
        self.news.append(news)


def _script(answers: Sequence[ScriptedAnswer]) -> Script:
    """Return answers, and then "As you wish." for ever."""
    return Script(answers=(*answers, *(says("As you wish."),) * _MORE_LIES))


def results_in(server: ScriptedChatCompletions, request: int = -1) -> list[str]:
    """Return the results of tools that the model was told."""
    sent = messages_of(server.requests[request])
    return [str(message["content"]) for message in sent if message["role"] == "tool"]
