"""Tasks in a real Home Assistant, against real servers of every kind."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import voluptuous as vol
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.components import ai_task
from homeassistant.components.ai_task import AITaskEntityFeature
from homeassistant.const import ATTR_SUPPORTED_FEATURES, STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant, ServiceResponse, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.chatterbox.const import (
    CONF_BUDGET_DAY,
    DOMAIN,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
    SUBENTRY_AI_TASK,
    ServiceKind,
)
from custom_components.chatterbox.home.description import FIND_ENTITIES
from custom_components.chatterbox.records.turn_record import SIGNAL_TURN, TurnRecord
from custom_components.chatterbox.settings.tasks import INSTRUCTIONS
from tests.support.documented_yaml import blocks_with
from tests.support.listening_agent import add_automations, start
from tests.support.llm_apis import StubApi, StubTool
from tests.support.picture_files import png
from tests.support.sentences import sentence
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.raw_http import (
    RawHTTPServer,
    RawReply,
    raw_http_server,
    reply,
)
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import (
    LIGHT,
    LIGHT_ON,
    PART,
    messages_of,
    move_into_the_demo_home,
)
from tests.support.tasks import (
    SERVERS,
    TASKS,
    add_camera,
    have_done,
    task_entry,
    working,
)
from tests.support.usage import usage_of

pytestmark = pytest.mark.usefixtures("socket_enabled")

LAMPS = {
    "lamps": {
        "description": "So many are on.",
        "required": True,
        "selector": {"number": {"min": 0}},
    },
    "rooms": {
        "selector": {"select": {"options": ["Kitchen", "Bedroom"], "multiple": True}}
    },
}
UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)


def says(*answers: str) -> Script:
    """Return the script of a model that says so, one after the other."""
    return Script(answers=tuple(ScriptedAnswer(content=answer) for answer in answers))


def prompt_of(request: ReceivedRequest) -> str:
    """Return the instructions of a request over Chat Completions."""
    return str(messages_of(request)[0]["content"])


ON = "Turn on the kitchen ceiling light."


async def failure(
    hass: HomeAssistant, context: Context | None = None, **task: object
) -> HomeAssistantError:
    """Return the error that an automation gets."""
    with pytest.raises(HomeAssistantError) as raised:
        await have_done(hass, context, **task)
    return raised.value


def worded(error: HomeAssistantError) -> str:
    """Return what a person reads."""
    return sentence(
        f"exceptions.{error.translation_key}.message",
        **(error.translation_placeholders or {}),
    )


async def test_words_come_back_as_the_model_wrote_them(hass: HomeAssistant) -> None:
    words = "**Three** lamps are on. ✅\n\n- Kitchen\n- I turned on the bedroom."
    async with working(hass, says(words)):
        assert await have_done(hass) == words


@pytest.mark.parametrize("kind", SERVERS)
async def test_data_that_does_not_fit_is_put_right(
    hass: HomeAssistant, kind: ServiceKind
) -> None:
    async with working(
        hass, says("Three.", '{"lamps": 3, "rooms": null}'), kind
    ) as server:
        assert await have_done(hass, structure=LAMPS) == {"lamps": 3}
        assert "Your answer cannot be used. There is no JSON object in it." in str(
            server.requests[1].body
        )


async def test_a_text_in_place_of_a_list_is_asked_for_again(
    hass: HomeAssistant,
) -> None:
    lines = {"lines": {"selector": {"text": {"multiple": True}}}}
    async with working(
        hass, says('{"lines": "1. Done.\\n2. Dry!"}', '{"lines": ["Done.", "Dry!"]}')
    ):
        assert await have_done(hass, structure=lines) == {"lines": ["Done.", "Dry!"]}


@pytest.mark.parametrize(
    "answers",
    [
        (
            ScriptedAnswer(content="", reasoning_content='So: {"lamps": 9}'),
            ScriptedAnswer(content='{"lamps": 3}'),
        ),
        (
            ScriptedAnswer(
                content='<|channel|>analysis<|message|>They want {"lamps": 9}<|end|>'
                '<|start|>assistant<|channel|>final<|constrain|>json<|message|>{"lamps": 3}'
            ),
        ),
    ],
)
async def test_data_is_never_taken_from_thoughts(
    hass: HomeAssistant, answers: tuple[ScriptedAnswer, ...]
) -> None:
    async with working(hass, Script(answers=answers)):
        assert await have_done(hass, structure=LAMPS) == {"lamps": 3}


async def test_the_model_reads_what_the_task_is(hass: HomeAssistant) -> None:
    async with working(hass, says("{}", '{"lamps": 3}')) as server:
        await have_done(hass, structure=LAMPS)

    first, _ = server.requests
    assert prompt_of(first).startswith(INSTRUCTIONS)
    assert '"description":"So many are on."' in prompt_of(first)
    assert "nobody can answer a question" in str(messages_of(first)[1]["content"])
    assert str(messages_of(first)[1]["content"]).endswith("How many lamps are on?")
    assert "tools" not in first.body
    form = first.body["response_format"]
    assert isinstance(form, dict)
    assert isinstance(shape := form["json_schema"], dict)
    assert (shape["name"], shape["strict"]) == ("count_lamps", True)


async def test_what_a_selector_refuses_is_told_too(hass: HomeAssistant) -> None:
    structure = {"day": {"required": True, "selector": {"date": {}}}}
    async with working(
        hass, says('{"day": "tomorrow"}', '{"day": "2026-11-23"}')
    ) as server:
        assert await have_done(hass, structure=structure) == {"day": "2026-11-23"}

    assert "Your answer cannot be used. day: " in str(
        messages_of(server.requests[1])[-1]["content"]
    )


async def test_who_gets_no_data_is_told_what_was_wrong(hass: HomeAssistant) -> None:
    async with working(hass, says("Three.", '{"lamps": "many"}')):
        error = await failure(hass, structure=LAMPS)

    assert error.translation_key == "task_output_unfit"
    assert "lamps: expected number" in worded(error)


@pytest.mark.parametrize(
    "answer", ['{"lamps": {"kitchen": 1}}', '[{"lamps": 3}, {"lamps": 4}]']
)
async def test_the_error_of_a_task_quotes_no_data_of_the_model(
    hass: HomeAssistant, answer: str
) -> None:
    async with working(hass, says("Three.", answer)):
        error = await failure(hass, structure=LAMPS)

    assert error.translation_key == "task_output_unfit"
    assert "{" not in worded(error)
    assert ":" in worded(error)


async def test_a_structure_that_no_model_can_be_given(hass: HomeAssistant) -> None:
    async with working(hass, says()) as server:
        with pytest.raises(HomeAssistantError) as raised:
            await ai_task.async_generate_data(
                hass,
                task_name="any",
                entity_id=TASKS,
                instructions="?",
                structure=vol.Schema([str]),
            )

        assert raised.value.translation_key == "task_structure_unusable"
        assert not server.requests


async def test_defaults_of_a_structure_are_filled_in(hass: HomeAssistant) -> None:
    structure = vol.Schema(
        {vol.Required("lamps"): int, vol.Optional("on", default=True): bool}
    )
    async with working(hass, says('{"lamps": 3}')):
        done = await ai_task.async_generate_data(
            hass, task_name="…", entity_id=TASKS, instructions="?", structure=structure
        )

    assert done.data == {"lamps": 3, "on": True}


@pytest.mark.parametrize(
    ("answer", "key", "words"),
    [
        (
            ScriptedFailure(status=401, body={"error": {"message": "no"}}),
            "provider_rejected_key",
            "The server no longer accepts its API key. Enter a new one.",
        ),
        (
            ScriptedFailure(status=400, body={"error": {"message": "No."}}),
            "provider_rejected_request",
            "The server rejected the request. Check its address and the models of its agents.",
        ),
        (
            ScriptedAnswer(content="Three lamps", finish_reason="length"),
            "task_not_done",
            "The task “count lamps” failed. My answer got too long and was cut off. Please ask for a shorter one.",
        ),
        (
            ScriptedAnswer(
                content="There are three lamps in the kitchen, and all are on. " * 100,
                piece_characters=500,
            ),
            "task_not_done",
            "The task “count lamps” failed. The language model kept repeating itself. Please try again.",
        ),
        (
            ScriptedAnswer(content=""),
            "task_not_done",
            "The task “count lamps” failed. I don't have an answer to that.",
        ),
    ],
)
async def test_a_task_that_fails_says_why(
    hass: HomeAssistant, answer: ScriptedAnswer | ScriptedFailure, key: str, words: str
) -> None:
    async with working(hass, Script(answers=(answer,))):
        error = await failure(hass)

    assert (error.translation_key, worded(error)) == (key, words)


async def test_what_was_done_before_a_failure_is_told(hass: HomeAssistant) -> None:
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedFailure(status=500, body={}),
        )
    )
    async with working(hass, script, llm_hass_api=["assist"]):
        error = await failure(hass, instructions=ON)

    assert hass.states.is_state(LIGHT, "on")
    assert error.translation_key == "task_not_done"
    assert worded(error).startswith(
        "The task “count lamps” failed. Done: Kitchen Ceiling Light."
    )


async def test_an_action_without_an_answer_is_confirmed(hass: HomeAssistant) -> None:
    script = Script(
        answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content=""))
    )
    async with working(hass, script, llm_hass_api=["assist"]):
        assert await have_done(hass, instructions=ON) == "Done: Kitchen Ceiling Light."


async def test_a_tool_that_a_task_brings_along_runs_before_the_answer(
    hass: HomeAssistant,
) -> None:
    meter = StubTool(name="read_meter", answer={"lamps": 4})
    meter.annotations = llm.ToolAnnotations(read_only=True)
    api = StubApi(hass=hass, id="of_the_task", name="Meter", tools=[meter])
    answers = (
        ScriptedAnswer(tool_calls=(ScriptedCall(name="read_meter", arguments={}),)),
        ScriptedAnswer(content='{"lamps": 4}'),
    )
    async with working(hass, Script(answers=answers)) as server:
        done = await ai_task.async_generate_data(
            hass,
            task_name="count lamps",
            entity_id=TASKS,
            instructions="How many?",
            structure=vol.Schema({vol.Required("lamps"): int}),
            llm_api=api,
        )

    assert done.data == {"lamps": 4}
    assert meter.calls
    assert (
        "response_format" not in server.requests[0].body
    )  # it would keep the model from calling


async def test_a_task_that_brings_assist_along_finds_entities_that_are_not_listed(
    hass: HomeAssistant,
) -> None:
    async with working(
        hass, Script(answers=(ScriptedAnswer(content="4"),)), most_listed=10
    ) as server:
        assist = next(
            api for api in llm.async_get_apis(hass) if api.id == llm.LLM_API_ASSIST
        )
        await ai_task.async_generate_data(
            hass,
            task_name="count",
            entity_id=TASKS,
            instructions="Is the desk lamp on?",
            llm_api=assist,
        )
    tools = server.requests[0].body["tools"]
    assert FIND_ENTITIES.rpartition("__")[2] in str(tools)
    assert "Desk Lamp" in str(server.requests[0].body["messages"])


@pytest.mark.parametrize(
    ("automation", "state"), [("trusted", "unlocked"), ("other", "locked")]
)
async def test_what_needs_a_yes_is_done_for_those_only_that_the_owner_trusts(
    hass: HomeAssistant, automation: str, state: str
) -> None:
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(UNLOCK,)),
            ScriptedAnswer(content="So be it."),
        )
    )
    task = {
        "action": "ai_task.generate_data",
        "data": {
            "task_name": "open",
            "entity_id": TASKS,
            "instructions": "Unlock the front door.",
        },
        "response_variable": "done",
    }
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    async with working(
        hass, script, llm_hass_api=["assist"], trusted_callers=["automation.trusted"]
    ):
        await add_automations(hass, **{automation: [task]})
        await start(hass, automation)

    assert hass.states.is_state("lock.front_door", state)
    assert (turns[0].data["caller"], turns[0].data["entity_id"]) == (
        f"automation.{automation}",
        TASKS,
    )


async def test_a_task_obeys_the_rules_of_the_home(hass: HomeAssistant) -> None:
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedAnswer(content="It is not allowed."),
        )
    )
    async with working(
        hass,
        script,
        llm_hass_api=["assist"],
        rules=[{"verdict": "deny", "domains": ["light"]}],
    ):
        assert await have_done(hass) == "It is not allowed."

    assert hass.states.is_state("light.kitchen_ceiling", "off")


async def test_nobody_is_asked_even_if_a_person_begins_the_task(
    hass: HomeAssistant,
) -> None:
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(UNLOCK,)),
            ScriptedAnswer(content="It is not allowed."),
        )
    )
    async with working(hass, script, llm_hass_api=["assist"]) as server:
        assert await have_done(hass, Context(user_id=anna.id)) == "It is not allowed."

    assert hass.states.is_state("lock.front_door", "locked")
    assert "nobody is there to give it" in str(
        messages_of(server.requests[1])[-1]["content"]
    )


async def test_tasks_at_the_same_time_have_the_rights_of_who_asked(
    hass: HomeAssistant,
) -> None:
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    guest = MockUser(name="Guest").add_to_hass(hass)
    guest.mock_policy(
        {"entities": {"domains": {"ai_task": {"control": True}}, "all": {"read": True}}}
    )
    call = ScriptedAnswer(tool_calls=(LIGHT_ON,), delay_seconds=0.05)
    end = ScriptedAnswer(content="So be it.", delay_seconds=0.05)
    finished = async_capture_events(hass, EVENT_TOOL_FINISHED)
    async with working(
        hass, Script(answers=(call, call, end, end)), llm_hass_api=["assist"]
    ):
        by = (Context(user_id=user.id) for user in (anna, guest))
        await asyncio.gather(
            *(have_done(hass, context, instructions=ON) for context in by)
        )

    assert {event.data["user_id"]: event.data["has_run"] for event in finished} == {
        anna.id: True,
        guest.id: False,
    }


async def test_a_task_is_counted_like_a_turn(hass: HomeAssistant) -> None:
    records: list[TurnRecord] = []

    @callback  # otherwise it is called in another thread, some time later
    def note(record: TurnRecord) -> None:
        records.append(record)

    async_dispatcher_connect(hass, SIGNAL_TURN, note)
    usage = ScriptedUsage(prompt_tokens=90, completion_tokens=6)
    async with working(
        hass, Script(answers=(ScriptedAnswer(content="3", usage=usage),))
    ):
        await have_done(hass)
        entry = hass.config_entries.async_entries("chatterbox")[0]
        worker = next(one for one in entry.subentries.values() if one.title == "Worker")

    assert [
        (one.agent, one.facts.usage.input_tokens, one.facts.usage.output_tokens)
        for one in records
    ] == [(worker.subentry_id, 90, 6)]
    assert records[0].facts.inferences[0].answered_by == worker.subentry_id


def picture(folder: Path, name: str, size: int = 4) -> dict[str, str]:
    """Put a file into the media folder, and return how a task names it."""
    (folder / "media").mkdir(exist_ok=True)
    (folder / "media" / name).write_bytes(b"\x89PNG"[:size].ljust(size))
    kind = "image/png" if name.endswith(".png") else "audio/wav"
    return {
        "media_content_id": f"media-source://media_source/local/{name}",
        "media_content_type": kind,
    }


@pytest.fixture
def media(hass: HomeAssistant, tmp_path: Path) -> Path:
    """Give Home Assistant a media folder."""
    hass.config.media_dirs = {"local": str(tmp_path / "media")}
    return tmp_path


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_model_is_shown_pictures(
    hass: HomeAssistant, media: Path, kind: ServiceKind
) -> None:
    async with working(hass, says("A lamp."), kind) as server:
        assert (
            await have_done(hass, attachments=[picture(media, "lamp.png")]) == "A lamp."
        )

    assert "iVBORw==" in str(server.requests[0].body)


async def test_of_a_camera_that_streams_the_still_picture_is_shown(
    hass: HomeAssistant,
) -> None:
    camera = {"media_content_id": "media-source://camera/camera.driveway"}
    async with working(hass, says("A car.")) as server:
        await add_camera(hass, "Driveway")
        assert await async_setup_component(hass, "media_source", {})
        stream = camera | {"media_content_type": "application/vnd.apple.mpegurl"}
        assert await have_done(hass, attachments=[stream]) == "A car."

    assert "data:image/jpeg;base64" in str(server.requests[0].body)


async def test_a_picture_of_a_camera_is_shown_as_what_it_is(
    hass: HomeAssistant, media: Path
) -> None:
    """home-assistant/core#167208; many cameras say "image/jpg"."""
    door = picture(media, "door.png")
    (media / "media" / "door.png").write_bytes(b"\xff\xd8\xff\xe0")
    async with working(hass, says("A door.", "A door.")) as server:
        for declared in ("image/png", "image/jpg"):
            assert (
                await have_done(
                    hass, attachments=[door | {"media_content_type": declared}]
                )
                == "A door."
            )

    assert all(
        "data:image/jpeg;base64" in str(request.body) for request in server.requests
    )


async def test_that_a_model_sees_no_pictures_is_told(
    hass: HomeAssistant, media: Path
) -> None:
    refusal = ScriptedFailure(
        status=404,
        body={"error": {"message": "No endpoints found that support image input"}},
    )
    async with working(hass, Script(answers=(refusal,))):
        error = await failure(hass, attachments=[picture(media, "lamp.png")])

    assert error.translation_key == "task_attachment_unsupported"
    assert "lamp.png" in worded(error)


@pytest.mark.parametrize(
    ("name", "size", "key"),
    [
        ("noise.wav", 4, "task_attachment_unsupported"),
        ("large.png", 10 * 2**20 + 1, "task_attachment_unreadable"),
    ],
)
async def test_what_cannot_be_shown_is_refused(
    hass: HomeAssistant, media: Path, name: str, size: int, key: str
) -> None:
    async with working(hass, says()) as server:
        error = await failure(hass, attachments=[picture(media, name, size)])

        assert error.translation_key == key
        assert name in worded(error)
        assert not server.requests


GENERATE, SEE, DRAWS = (
    AITaskEntityFeature.GENERATE_DATA,
    AITaskEntityFeature.SUPPORT_ATTACHMENTS,
    AITaskEntityFeature.GENERATE_IMAGE,
)


@pytest.mark.parametrize(
    ("kind", "server", "image_model", "features"),
    [
        (ServiceKind.OPENAI_CHAT, "deepseek", "", GENERATE),
        (ServiceKind.OPENAI_CHAT, "other", "", GENERATE | SEE),
        (ServiceKind.OPENAI_CHAT, "other", "imagen-4", GENERATE | SEE | DRAWS),
        (ServiceKind.OPENAI_RESPONSES, "other", "gpt-image-1", GENERATE | SEE | DRAWS),
        (ServiceKind.OLLAMA_CHAT, "other", "gpt-image-1", GENERATE | SEE),
    ],
)
async def test_pictures_are_taken_and_made_only_where_the_service_can(
    hass: HomeAssistant,
    kind: ServiceKind,
    server: str,
    image_model: str,
    features: AITaskEntityFeature,
) -> None:
    async with working(hass, says(), kind, server=server, image_model=image_model):
        state = hass.states.get(TASKS)

    assert state is not None
    assert state.attributes[ATTR_SUPPORTED_FEATURES] == features


async def test_a_model_that_does_not_answer_is_unavailable_until_it_does(
    hass: HomeAssistant,
) -> None:
    refusal = ScriptedFailure(status=401, body={"error": {"message": "no"}})
    async with working(hass, Script(answers=(refusal,))):
        await failure(hass)
        await hass.async_block_till_done()

        assert hass.states.is_state(TASKS, STATE_UNAVAILABLE)


async def test_the_documented_look_at_the_door(hass: HomeAssistant) -> None:
    (automation,) = blocks_with("ai_task.generate_data")
    script = says('{"is_parcel": false, "message": "The neighbour, with a cake."}')
    async with working(hass, script, title="Doorkeeper") as server:
        await add_camera(hass, "Front Door")
        assert await async_setup_component(hass, "persistent_notification", {})
        assert await async_setup_component(
            hass, "automation", {"automation": {"alias": "Door", **automation}}
        )
        notes = async_capture_events(hass, "call_service")

        hass.states.async_set("binary_sensor.doorbell", "on")
        await hass.async_block_till_done()

    (note,) = (
        note.data["service_data"]
        for note in notes
        if note.data["domain"] == "persistent_notification"
    )
    assert note["message"] == "The neighbour, with a cake."
    assert "image/jpeg" in str(server.requests[0].body)


DRAW = {
    "task_name": "greeting",
    "entity_id": TASKS,
    "instructions": "A cat that says hello.",
}


@asynccontextmanager
async def drawing(
    hass: HomeAssistant, *replies: RawReply, image_model: str, **options: object
) -> AsyncGenerator[RawHTTPServer]:
    """Set up a model for tasks that makes pictures, on a server that answers so."""
    listed = reply(b'{"data": [{"id": "scripted-model"}]}')
    async with raw_http_server(listed, *replies) as server:
        address = f"http://127.0.0.1:{server.port}/v1"
        entry = task_entry(
            address,
            ServiceKind.OPENAI_CHAT,
            "other",
            "Worker",
            **{"image_model": image_model, **options},
        )
        await move_into_the_demo_home(hass, PART)
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)
        yield server


async def draw(hass: HomeAssistant, **more: object) -> ServiceResponse:
    """Have a picture made, by the action that automations use."""
    return await hass.services.async_call(
        "ai_task", "generate_image", DRAW | more, blocking=True, return_response=True
    )


async def test_a_picture_is_made_and_kept_where_home_assistant_keeps_them(
    hass: HomeAssistant, media: Path
) -> None:
    answer = {
        "data": [
            {
                "b64_json": b64encode(png(3, 2)).decode(),
                "revised_prompt": "A waving cat.",
            }
        ],
        "usage": {"input_tokens": 14, "output_tokens": 272},
    }
    (media / "media").mkdir()
    odd = (png(3, 2)[:12], png(3, 2, text=bytes(2_000_000)))
    bodies = (
        answer,
        *({"data": [{"b64_json": b64encode(image).decode()}]} for image in odd),
    )
    replies = (reply(json.dumps(body).encode()) for body in bodies)
    async with drawing(hass, *replies, image_model="gpt-image-1") as server:
        made = await draw(hass)
        of_no_size = [
            await draw(hass, task_name=name) for name in ("damaged", "with a long text")
        ]

    expected = {
        "mime_type": "image/png",
        "width": 3,
        "height": 2,
        "model": "gpt-image-1",
    }
    assert made is not None
    assert made.items() >= {**expected, "revised_prompt": "A waving cat."}.items()
    assert [(one["width"], one["height"]) for one in of_no_size if one] == [
        (None, None)
    ] * 2
    assert {file.read_bytes() for file in (media / "media").rglob("*.png")} == {
        png(3, 2),
        *odd,
    }
    assert json.loads(server.requests[-1].body)["prompt"] == "A cat that says hello."
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    (worker,) = [
        each.subentry_id for each in entry.get_subentries_of_type(SUBENTRY_AI_TASK)
    ]
    usage = await usage_of(hass, worker)
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (14, 272, 0)


BUDGET: dict[str, object] = {
    CONF_BUDGET_DAY: 0.0,
    "price_input": 1.0,
    "price_output": 1.0,
}


@pytest.mark.parametrize(
    ("options", "is_shown", "requests", "key"),
    [
        ({}, False, 1, "content_filter"),
        (BUDGET, False, 0, "budget_spent"),
        ({}, True, 0, "task_image_from_words_alone"),
    ],
)
async def test_a_picture_that_is_not_made_says_why(  # noqa: PLR0917  # fixtures and a table
    hass: HomeAssistant,
    media: Path,
    options: dict[str, object],
    is_shown: bool,  # noqa: FBT001  # of a table
    requests: int,
    key: str,
) -> None:
    refusal = reply(
        b'{"error": {"message": "Your request was rejected by the safety system."}}',
        status=400,
    )
    attachments = {"attachments": [picture(media, "lamp.png")]} if is_shown else {}
    async with drawing(hass, refusal, image_model="gpt-image-1", **options) as server:
        before = len(server.requests)
        with pytest.raises(HomeAssistantError) as raised:
            await draw(hass, **attachments)

        assert len(server.requests) == before + requests
    assert raised.value.translation_key == key
