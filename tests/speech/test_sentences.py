"""Every ending of a turn has a sentence, in the speaker's language, that says what was done and what can be done."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers import intent, llm

from custom_components.chatterbox.agent.errors import (
    AgentError,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import (
    JsonValue,
    ToolAnnotations,
    ToolDefinition,
    ToolResult,
)
from custom_components.chatterbox.settings.agent import Confirmation
from custom_components.chatterbox.speech.sentences import (
    ERROR_KEYS,
    TranslatedComposer,
    as_setup_error,
    async_get_sentences,
    error_key,
    in_sentences,
)
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import LIGHT_ON, NOT_DONE, Serve, say, speech

pytestmark = pytest.mark.usefixtures("whole_home")

LOOK = ToolDefinition("look", "Looks around.", {}, ToolAnnotations(read_only=True))
DECLINED = "The language model declined to answer that. Please try asking differently."
TOO_LONG = "That took too long, so I stopped. Please try again."
LANGUAGES = ("en", "de")

Target = intent.IntentResponseTarget
TargetType = intent.IntentResponseTargetType


def all_errors(kind: type[AgentError] = AgentError) -> Iterator[type[AgentError]]:
    """Walk the error tree, without the base class of the failures of services, which is never raised."""
    if kind is not ProviderError:
        yield kind
    for below in kind.__subclasses__():
        yield from all_errors(below)


def result(native: object = None, name: str = "act") -> ToolResult:
    """Return the result of a tool that ran."""
    return ToolResult("call-1", name, "{}", native=native)


def intent_result(
    *done: str | Target,
    failed: tuple[str | Target, ...] = (),
    speech: str = "",
    answer: bool = False,
) -> ToolResult:
    """Return the result of an intent that was a success for some entities, as Home Assistant hands it over."""
    response = intent.IntentResponse("en")
    response.async_set_results(
        [
            target if isinstance(target, Target) else Target(target, TargetType.ENTITY)
            for target in done
        ],
        [
            one
            if isinstance(one, Target)
            else Target(one, TargetType.ENTITY, one.lower())
            for one in failed
        ],
    )
    if answer:
        response.response_type = intent.IntentResponseType.QUERY_ANSWER
    if speech:
        response.async_set_speech(speech)
    return result(llm.ToolResult(llm.IntentResponseDict(response)))


@pytest.fixture
async def english(hass: HomeAssistant) -> TranslatedComposer:
    """Return the words of English turns."""
    return TranslatedComposer(await async_get_sentences(hass, "en"), [LOOK])


@in_one_home(("kind", "language"), [*product(all_errors(), LANGUAGES)])
async def test_every_error_has_a_sentence_of_its_own(
    hass: HomeAssistant, kind: type[AgentError], language: str
) -> None:
    composer = TranslatedComposer(await async_get_sentences(hass, language), ())

    assert kind in ERROR_KEYS
    assert composer.compose(
        StopReason.PROVIDER_FAILED, (), kind("for developers")
    ).endswith(".")
    assert "for developers" not in composer.compose(
        StopReason.PROVIDER_FAILED, (), kind("for developers")
    )


@in_one_home(("reason", "language"), [*product(StopReason, LANGUAGES)])
async def test_every_ending_has_a_sentence(
    hass: HomeAssistant, reason: StopReason, language: str
) -> None:
    composer = TranslatedComposer(await async_get_sentences(hass, language), ())

    assert composer.compose(reason, (), None).endswith(".")


async def test_every_ending_and_every_error_differ(english: TranslatedComposer) -> None:
    endings = {english.compose(reason, (), None) for reason in StopReason}
    failures = {
        english.compose(StopReason.PROVIDER_FAILED, (), kind(""))
        for kind in all_errors()
    }

    assert len(endings) == len(StopReason)
    assert len(failures) == len(ERROR_KEYS)


async def test_an_error_class_without_a_key_takes_the_one_above() -> None:
    class QuotaUsedUp(ProviderBusy):
        """An error of tomorrow."""

    assert error_key(QuotaUsedUp("soon")) == "provider_busy"


async def test_the_words_follow_the_country_of_the_home(hass: HomeAssistant) -> None:
    texts = {}
    for country in ("PT", "BR"):
        await hass.config.async_update(country=country)
        texts[country] = await async_get_sentences(hass, "pt")

    assert texts["PT"] == await async_get_sentences(hass, "pt-PT")
    assert texts["BR"] == await async_get_sentences(hass, "pt-BR")
    assert texts["PT"] != texts["BR"]


async def test_the_words_are_those_of_the_speaker(hass: HomeAssistant) -> None:
    for language, sentence in {
        "de": "Erledigt.",
        "de-CH": "Erledigt.",
        "en-GB": "Done.",
        "tlh": "Done.",
    }.items():
        composer = TranslatedComposer(await async_get_sentences(hass, language), ())

        assert composer.compose(StopReason.COMPLETED, [result()], None) == sentence


ROOM = Target("Kitchen", TargetType.AREA, "kitchen")
LOOKED = result(llm.ToolResult({"lights": 3}), name=LOOK.name)


@in_one_home(
    ("tool_results", "sentence"),
    [
        ([], "I don't have an answer to that."),
        ([LOOKED], "I don't have an answer to that."),
        ([intent_result("Lamp", answer=True)], "I don't have an answer to that."),
        (
            [intent_result("Kitchen light", "Lamp"), intent_result("Lamp", "Fan")],
            "Done: Kitchen light, Lamp, Fan.",
        ),
        ([intent_result(*"ABCDE")], "Done: A, B, C, D, E."),
        ([intent_result(*"ABCDEFG")], "Done: A, B, C, D and 3 more."),
        (
            [intent_result("Lamp", failed=("Heater",))],
            "Done: Lamp. That didn't work: Heater.",
        ),
        ([intent_result(ROOM)], "Done: Kitchen."),
        ([intent_result(ROOM, "Lamp")], "Done: Lamp."),
        (
            [intent_result("Lamp", speech=" It shines. "), intent_result("Fan")],
            "It shines. Done: Fan.",
        ),
        ([result()], "Done."),
        ([result(llm.ToolResult({"success": True}))], "Done."),
        ([result(llm.ToolResult(llm.IntentResponseDict({"speech": {}})))], "Done."),
        (
            [
                result(
                    llm.ToolResult(llm.IntentResponseDict(intent.IntentResponse("en")))
                )
            ],
            "Done.",
        ),
    ],
)
async def test_a_turn_without_an_answer_says_what_was_done(
    english: TranslatedComposer, tool_results: list[ToolResult], sentence: str
) -> None:
    assert english.compose(StopReason.COMPLETED, tool_results, None) == sentence


async def test_what_was_done_comes_before_why_it_ended(
    english: TranslatedComposer,
) -> None:
    done = intent_result("Kitchen light")

    assert english.compose(StopReason.DEADLINE, [LOOKED], None) == TOO_LONG
    assert (
        english.compose(StopReason.DEADLINE, [done], None)
        == f"Done: Kitchen light. {TOO_LONG}"
    )
    unreachable = english.compose(
        StopReason.PROVIDER_FAILED, [done], ProviderUnreachable("")
    )
    assert unreachable == "Done: Kitchen light. I can't reach my language model."


async def test_the_short_confirmation_stands_for_what_was_done_in_a_complete_turn(
    hass: HomeAssistant,
) -> None:
    tool_results = [
        intent_result("Lamp", speech="It shines."),
        intent_result("Fan", failed=("Heater",)),
    ]
    for language, words in {
        "en": "It shines. Done. That didn't work: Heater.",
        "de": "It shines. Erledigt. Das hat nicht geklappt: Heater.",
    }.items():
        brief = TranslatedComposer(
            await async_get_sentences(hass, language), (), Confirmation.DONE
        )

        assert brief.compose(StopReason.COMPLETED, tool_results, None) == words
        assert "Fan" in brief.compose(StopReason.DEADLINE, tool_results, None)
        assert "Fan" in brief.compose(
            StopReason.PROVIDER_FAILED, tool_results, ProviderUnreachable("gone")
        )


FAILED = replace(
    result(llm.ToolResult({"error": "no such light"}, error=True)), is_error=True
)
MISSING = replace(
    intent_result(failed=(Target("Sofa Lamp", TargetType.ENTITY),)), is_error=True
)


def sentence_result(code: intent.IntentResponseErrorCode) -> ToolResult:
    """Return the result of a sentence with which Home Assistant did nothing."""
    response = intent.IntentResponse("en")
    response.async_set_error(code, "Sorry.")
    native, content = (
        llm.ToolResult(llm.IntentResponseDict(response), error=True),
        json.dumps(response.as_dict()),
    )
    return replace(result(native), content=content, is_error=True)


@in_one_home(
    ("tool_results", "answer", "expected"),
    [
        ([], "I did it.", ""),
        ([FAILED], "I did it.", NOT_DONE),
        ([FAILED, FAILED], "I did it.", NOT_DONE),
        ([FAILED, intent_result("Lamp")], "I did it.", ""),
        ([FAILED, result()], "I did it.", ""),
        ([MISSING], "I did it.", NOT_DONE),
        ([intent_result("Lamp"), MISSING], "I did it.", "That didn't work: Sofa Lamp."),
        ([intent_result("Lamp"), MISSING, intent_result("Fan")], "I did it.", ""),
        (
            [intent_result("Lamp", failed=("Heater",))],
            "I did it.",
            "That didn't work: Heater.",
        ),
        (
            [intent_result(failed=("Heater",)), intent_result("Lamp", failed=("Fan",))],
            "",
            "That didn't work: Heater, Fan.",
        ),
        (
            [intent_result("Lamp", failed=("Heater",), speech="No heater.")],
            "No heater.",
            "",
        ),
        (
            [
                intent_result(failed=("Heater",)),
                intent_result(Target("Heater", TargetType.ENTITY, "heater")),
            ],
            "",
            "",
        ),
        (
            [sentence_result(intent.IntentResponseErrorCode.FAILED_TO_HANDLE)],
            "Sorry.",
            "",
        ),
        (
            [sentence_result(intent.IntentResponseErrorCode.FAILED_TO_HANDLE)],
            "I did it.",
            NOT_DONE,
        ),
        (
            [sentence_result(intent.IntentResponseErrorCode.NO_INTENT_MATCH)],
            "It is late.",
            "",
        ),
    ],
)
async def test_beside_an_answer_it_is_told_what_was_not_done(
    english: TranslatedComposer,
    tool_results: list[ToolResult],
    answer: str,
    expected: str,
) -> None:
    assert english.undone(tool_results, answer) == expected


async def test_a_device_that_does_not_exist_is_told_beside_one_that_was_switched(
    hass: HomeAssistant, serve: Serve
) -> None:
    sofa = LIGHT_ON.model_copy(update={"arguments": {"name": "Sofa Lamp"}})
    answers = (
        ScriptedAnswer(tool_calls=(LIGHT_ON, sofa)),
        ScriptedAnswer(content="Both are on."),
    )
    await serve(Script(answers=answers))

    assert (
        speech(await say(hass, "both lamps on"))
        == "Both are on. That didn't work: Sofa Lamp."
    )


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("options", "words"),
    [({}, "Done: Kitchen Ceiling Light."), ({"confirmation": "done"}, "Done.")],
)
async def test_an_agent_confirms_as_it_is_set(
    hass: HomeAssistant, serve: Serve, options: dict[str, object], words: str
) -> None:
    await serve(
        Script(
            answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content=""))
        ),
        **options,
    )

    assert speech(await say(hass, "turn on the kitchen light")) == words


async def test_what_is_remembered_is_confirmed_in_a_sentence_of_its_own(
    hass: HomeAssistant, english: TranslatedComposer
) -> None:
    english = replace(
        english, done_keys={"note": "remembered", "drop": "forgotten", "HassTurnOn": ""}
    )
    remembered, forgotten = result(name="note"), result(name="drop")
    light = intent_result("Kitchen light")

    assert (
        english.compose(StopReason.COMPLETED, [remembered, remembered], None)
        == "I'll remember that."
    )
    assert (
        english.done([light, forgotten]) == "Done: Kitchen light. I've forgotten that."
    )
    brief = TranslatedComposer(
        await async_get_sentences(hass, "en"), (), Confirmation.DONE
    )
    assert brief.compose(StopReason.COMPLETED, [remembered], None) == "Done."


async def test_a_long_wait_is_told_in_minutes(english: TranslatedComposer) -> None:
    def busy(wait: float | None) -> str:
        return english.compose(StopReason.PROVIDER_FAILED, (), ProviderBusy("", wait))

    assert busy(None).endswith("in a moment.")
    assert busy(20).endswith("in a moment.")
    assert busy(90).endswith("in 2 minutes.")
    assert busy(3600).endswith("in 60 minutes.")


async def test_words_that_a_service_declines_need_no_new_key(
    hass: HomeAssistant, serve: Serve
) -> None:
    flagged: JsonValue = {
        "code": 403,
        "message": "x requires moderation on OpenAI. Your input was flagged.",
    }
    await serve(Script(answers=(ScriptedFailure(status=403, body={"error": flagged}),)))

    assert speech(await say(hass, "Kill the lights")).startswith(DECLINED)
    assert not hass.config_entries.flow.async_progress()


@pytest.mark.parametrize(
    "kind", [kind for kind in all_errors() if issubclass(kind, ProviderError)]
)
def test_a_service_that_fails_when_it_is_set_up_is_tried_again_unless_it_is_the_key(
    kind: type[ProviderError],
) -> None:
    error = as_setup_error(kind("for developers"), "My server")

    expected = (
        ConfigEntryAuthFailed if kind is ProviderRejectedKey else ConfigEntryNotReady
    )
    assert type(error) is expected
    assert error.translation_key == ERROR_KEYS[kind]


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (
            ["Turned on the light", "I lost the model."],
            "Turned on the light. I lost the model.",
        ),
        (["Done.", "Turned on the light"], "Done. Turned on the light"),
        (["灯已打开", "模型出错。"], "灯已打开。 模型出错。"),
        ([], ""),
    ],
)
def test_what_was_done_and_what_failed_are_sentences(
    texts: list[str], joined: str
) -> None:
    assert in_sentences(texts) == joined
