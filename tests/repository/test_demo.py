"""`script/demo` as a person or a machine runs it: a real Home Assistant, a real home, a real pipeline, a real end."""

import asyncio
import json
import re
import signal
import socket
from itertools import chain
from pathlib import Path

import aiohttp
import pytest
from pydantic import BaseModel, JsonValue, TypeAdapter

from demo.__main__ import talk
from demo.arguments import API_KEY_VARIABLE, read_arguments
from demo.conversation import Conversation, TurnReport
from demo.errors import DemoError
from demo.home import ChatCompletionsServer, State, set_up_assistant
from demo.home_assistant import free_port
from demo.log_file import empty_log
from demo.scripted_model import UNKNOWN
from demo.show import PIN, SCENES
from demo.web_api import HomeAssistantClient
from tests.support.demo_process import (
    RUN_SECONDS,
    FinishedDemo,
    printed_address,
    run_demo,
    started_demo,
)
from tests.support.documented_sentences import (
    documented_sentences,
    documented_talks,
    pictured_talk,
)
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
    ScriptedUsage,
)

_TURN_KEYS = {
    "input",
    "phases",
    "tool_calls",
    "speech",
    "stop_reason",
    "usage",
    "duration_ms",
}
_ONE_TOOL_ROUND = [
    "TOOL_DECISION",
    "TOOL_EXECUTION",
    "RESULT_AGGREGATION",
    "LLM_INFERENCE",
]

_LIST = "assist_pipeline/pipeline/list"

type JsonObject = dict[str, JsonValue]


class _Pipeline(BaseModel):
    id: str
    name: str


class _Pipelines(BaseModel):
    pipelines: list[_Pipeline]


pytestmark = pytest.mark.usefixtures("socket_enabled")


def _json_lines(run: FinishedDemo) -> list[JsonObject]:
    return [
        TypeAdapter(JsonObject).validate_json(line) for line in run.output.splitlines()
    ]


def _files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _turn(turn: JsonObject) -> TurnReport:
    """Read a printed turn; what is not printed does not matter here."""
    return TurnReport.model_validate({"conversation_id": "", "iterations": 0, **turn})


async def test_sentences_are_answered_and_change_the_home_and_people_read_their_walk(
    tmp_path: Path,
) -> None:
    claimed = [one.text for one in documented_sentences() if one.page == "README.md"]
    commands = [*chain.from_iterable(documented_talks("README.md"))]
    sentences = [
        *claimed,
        *commands[:-2],
        "unlock the front door",
        "no",
        *commands[-2:],
    ]
    say_arguments = [
        argument for sentence in sentences for argument in ("--say", sentence)
    ]
    looks = (
        "--state",
        "light.kitchen_ceiling",
        "--state",
        "light.hallway",
        "--state",
        "lock.front_door",
    )

    run = await run_demo(tmp_path, *say_arguments, *looks)

    assert run.exit_code == 0, run.messages
    assert re.findall("You         (.*)\n", run.output) == sentences
    answers = re.findall("Chatterbox  (.*)\n", run.output)
    refused = re.findall("\n    failed  (.*)", run.output)
    assert refused == ["Not run: the person said no."]
    assert answers[0].endswith("in 20 minutes: turn off the Bedroom Heater.")
    lights_on, weather, *others = answers[len(claimed) :]
    assert lights_on == "Turned on the lights"
    assert re.search(r"\d", weather), weather
    assert others == [
        "Turned off the lights",
        "Unlock the Front Door in the Hallway?",
        sentence("common.spoken_declined"),
        "Unlock the Front Door in the Hallway?",
        "Unlocking",
    ]
    ends = re.findall("  end       ([a-z ]+), ", run.output)
    assert ends == [
        *["completed"] * (len(claimed) + 3),
        *["approval required", "completed"] * 2,
    ]
    walk = "  walk      heard → thought → decided → ran tools → collected results → thought"
    assert run.output.count(walk) >= 3
    assert run.output.endswith(
        "light.kitchen_ceiling is off (Kitchen Ceiling Light)\n"
        "light.hallway is off (Hallway Light)\n"
        "lock.front_door is unlocked (Front Door)\n"
    )
    assert str(tmp_path / "home-assistant.log") in run.messages
    log = (tmp_path / "home-assistant.log").read_text()
    assert "custom integration chatterbox" in log
    assert " ERROR " not in log
    assert "Traceback" not in log
    assert _files_in(tmp_path) == ["home-assistant.log"]


@pytest.mark.thorough
async def test_the_show_plays_its_scenes_with_the_price_of_each_turn(
    tmp_path: Path,
) -> None:
    run = await run_demo(tmp_path, "--show")

    assert run.exit_code == 0, run.messages
    for number, scene in enumerate(SCENES, start=1):
        assert f"{number}. {scene.title}\n" in run.output
    answers = [
        line.removeprefix("Chatterbox").strip()
        for line in run.output.splitlines()
        if "Chatterbox  " in line
    ]
    (
        movie,
        _,
        brighter,
        _,
        rain,
        garden,
        bakery,
        question,
        not_enough,
        unlocked,
        died,
        spare,
        pancakes,
    ) = answers
    assert (
        movie
        == "The living room is dark, the blinds are closed and the heating is set to 19 degrees."
    )
    assert brighter == "The floor lamp is at full brightness."
    assert rain.startswith("Yes, rain")
    assert garden == "Nobody is in the garden. A ginger cat sits on the bench."
    assert bakery == "The bakery opens at eight on Sunday."
    assert question == "Unlock the Front Door in the Hallway? Please say the PIN."
    assert not_enough == sentence("common.spoken_pin_missing")
    assert "nlock" in unlocked
    assert died.startswith(
        "Done: Kids Room Blind. I lost the connection to the language model."
    )
    assert spare == "The bedside lamp glows at 30 percent."
    assert "; Spare took over\n" in run.output
    assert '{"' not in run.output
    assert pancakes.startswith("Whisk 250 g of flour")
    assert pancakes.endswith("I didn't do it: open the Garage Door.")
    assert (
        re.findall(r"is not a parameter|There is no tool|not found", run.output) == []
    )
    assert len(re.findall(r", \$0\.\d{5}\n", run.output)) == len(answers)
    assert PIN not in run.output
    assert "what was done" in run.output
    assert " ERROR " not in (tmp_path / "home-assistant.log").read_text()


@pytest.mark.thorough
async def test_a_model_server_walks_several_tool_rounds_and_may_fail_in_between(
    tmp_path: Path,
) -> None:
    on = ScriptedCall(
        name="intent__HassTurnOn", arguments={"area": "Kitchen", "domain": ["light"]}
    )
    dim = ScriptedCall(
        name="light__HassLightSet",
        arguments={"name": "Kitchen Ceiling Light", "brightness": 30},
    )
    look = ScriptedCall(name="homeassistant__GetLiveContext", arguments="")
    off = ScriptedCall(
        name="intent__HassTurnOff", arguments={"area": "Bedroom", "domain": ["light"]}
    )
    failure = ScriptedFailure(status=500, body="<h1>boom</h1>")
    usage = ScriptedUsage(prompt_tokens=100, completion_tokens=10, cached_tokens=64)
    script = Script(
        api_key="the-key",
        answers=(
            ScriptedAnswer(tool_calls=(on,), usage=usage),
            ScriptedAnswer(tool_calls=(look, dim), usage=usage),
            ScriptedAnswer(
                content="The kitchen is lit, and its ceiling light is soft.",
                usage=usage,
            ),
            ScriptedAnswer(content="You are welcome.", usage=usage),
            ScriptedAnswer(tool_calls=(off,)),
            ScriptedAnswer(content=""),
            failure,
            failure,
            ScriptedAnswer(content="Here I am."),
        ),
    )
    async with scripted_server(script, tmp_path) as server:
        run = await run_demo(
            tmp_path,
            *(
                "--base-url",
                server.base_url,
                "--api-key",
                "the-key",
                "--json",
                "--state",
                "light.kitchen_ceiling",
            ),
            *(
                "--say",
                "make it cosy in the kitchen",
                "--say",
                "thank you",
                "--say",
                "make it dark in the bedroom",
            ),
            *("--say", "hello?", "--say", "hello again?"),
        )
        requests = await server.requests()

    assert run.exit_code == 0, run.messages
    *turns, ceiling = _json_lines(run)
    assert [set(turn) for turn in turns] == [_TURN_KEYS] * 5
    cosy, thanks, dark, failed, answered = (_turn(turn) for turn in turns)
    assert (cosy.stop_reason, cosy.phases[-1]) == ("completed", "OUTPUT")
    assert list(cosy.phases[:2]) == ["RECEIVE_INPUT", "LLM_INFERENCE"]
    assert cosy.speech == "The kitchen is lit, and its ceiling light is soft."
    assert [call.name for call in cosy.tool_calls] == [on.name, look.name, dim.name]
    assert not any(call.is_error for call in cosy.tool_calls)
    assert list(cosy.phases[2:10]) == _ONE_TOOL_ROUND * 2
    assert cosy.usage == {
        "input_tokens": 300,
        "output_tokens": 30,
        "cached_tokens": 192,
        "reasoning_tokens": 0,
        "is_estimated": False,
    }
    assert thanks.speech == "You are welcome."
    assert (
        dark.speech == "Done: Bedroom Light, Bedside Lamp."
    )  # composed, since the model says nothing
    lit = State.model_validate(ceiling)
    assert (lit.state, lit.attributes["brightness"]) == ("on", 76)
    assert failed.speech.startswith("My language model can't answer right now. ")
    assert answered.speech == "Here I am."
    chats = [request.body["messages"] for request in requests]
    assert 'make it cosy in the kitchen"' in json.dumps(
        chats[-1]
    )  # the same conversation goes on
    assert (
        "the-key"
        not in run.output + run.messages + (tmp_path / "home-assistant.log").read_text()
    )


def _expect_failure(run: FinishedDemo, message: str) -> None:
    assert run.exit_code == 1
    assert re.search(message, run.messages), run.messages
    assert "Traceback" not in run.messages
    assert not run.output


@pytest.mark.thorough
async def test_the_page_opens_signed_in_on_this_machine_only_until_ctrl_c(
    tmp_path: Path,
) -> None:
    async with started_demo(tmp_path) as process:
        address = await printed_address(process)
        found = re.fullmatch(r"(http://127\.0\.0\.1:(\d+))/\S+", address)
        assert found, address
        url, port = found.groups()
        signed_in = await _sign_in_without_typing(url)
        assert signed_in["type"] == "create_entry"
        assert not _accepts_from_elsewhere(int(port))
        async with HomeAssistantClient.connected(
            url, str(signed_in["result"])
        ) as client:
            await _expect_that_the_readme_is_true(client)
            await _expect_that_servers_are_refused(client, tmp_path)
            misspelled = read_arguments(
                [
                    "--say",
                    "turn on the kitchen lights",
                    "--state",
                    "light.kitchen_celling",
                ]
            )
            with pytest.raises(
                DemoError,
                match=r"has no 'light.kitchen_celling'\. Did you mean light.kitchen_ceiling",
            ):
                await talk(client, "", misspelled)
        (tmp_path / "script.json").unlink()
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(RUN_SECONDS):
            await process.communicate()

    assert process.returncode == 0
    assert not _listens("127.0.0.1", int(port))
    assert _files_in(tmp_path) == ["home-assistant.log"]


async def _expect_that_the_readme_is_true(client: HomeAssistantClient) -> None:
    """Say to the assistant of the page what the README shows, then something that its model does not know."""
    (butler,) = [
        one
        for one in (await client.command(_LIST, _Pipelines)).pipelines
        if one.name == "Butler"
    ]
    talk = await Conversation.started(client, butler.id)
    texts = [one.text for one in documented_sentences() if one.page == "README.md"]
    for text in (*texts, *chain.from_iterable(documented_talks("README.md"))):
        turn = await talk.say(text)
        assert UNKNOWN not in turn.speech, text
        assert not any(call.is_error for call in turn.tool_calls), turn
    for text, answer in pictured_talk("README.md"):
        assert (await talk.say(text)).speech.endswith(answer)
    talk = await Conversation.started(client, butler.id)
    assert (await talk.say("Make up a story about the garage")).speech == UNKNOWN
    assert "scripted" in UNKNOWN
    assert len(re.findall(r"[.!?](?= |$)", UNKNOWN)) == 1


async def _expect_that_servers_are_refused(
    client: HomeAssistantClient, folder: Path
) -> None:
    """Name servers that cannot be used, as `--base-url`, `--model` and `--api-key` do; each is told why."""
    nobody = "http://127.0.0.1:9/v1"
    with pytest.raises(
        DemoError,
        match=re.escape(sentence("config.error.provider_unreachable", url=nobody)),
    ):
        await set_up_assistant(client, ChatCompletionsServer(nobody))
    for script, api_key, message in (
        (
            Script(api_key="right"),
            "wrong",
            "does not accept this API key, or asks for one. Give a key",
        ),
        (
            Script(api_key="right"),
            "two\nlines",
            "Give the whole key, with CHATTERBOX_API_KEY or",
        ),
        (
            Script(models=("one", "two")),
            None,
            "Choose a --model; the server at .* has: one, two",
        ),
    ):
        async with scripted_server(script, folder) as server:
            with pytest.raises(DemoError, match=message):
                await set_up_assistant(
                    client, ChatCompletionsServer(server.base_url, api_key=api_key)
                )


async def _sign_in_without_typing(url: str) -> JsonObject:
    """Start the login flow as the page does; return what it answers before anything is typed."""
    flow = {
        "client_id": f"{url}/",
        "handler": ["trusted_networks", None],
        "redirect_uri": f"{url}/?auth_callback=1",
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/auth/login_flow", json=flow) as response,
    ):
        return TypeAdapter(JsonObject).validate_json(await response.read())


def _accepts_from_elsewhere(port: int) -> bool:
    """Return whether another address of this machine, as others see it, answers on `port`."""
    return _listens("127.0.0.2", port)


def _listens(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex((address, port)) == 0


async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        port = taken.getsockname()[1]
        run = await run_demo(tmp_path, "--port", str(port), "--say", "hello")

    _expect_failure(run, f"Port {port} cannot be used")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json"], "add --say"),
        (["--show", "--say", "hello"], "leave out --say"),
        (["--show", "--base-url", "http://127.0.0.1:8080/v1"], "leave out --say"),
        (["--scripted", "--base-url", "http://127.0.0.1:8080/v1"], "leave one out"),
        (["--state", "light.hallway"], "add --say"),
        (["--say", "  "], "not an empty text"),
        (["--model", "small"], "add --base-url"),
        (["--api-key", "secret"], "add --base-url"),
        (["--base-url", "localhost:8080"], "is not a web address"),
        (["--base-url", "http://"], "is not a web address"),
        (["--base-url", "ftp://me:secret@host"], "is not a web address"),
        (["--port", "70000"], "between 1 and 65535"),
        (["--port", "http"], "invalid int value"),
        (["--shout"], "unrecognized arguments"),
    ],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_arguments(arguments)

    assert stopped.value.code == 2
    messages = capsys.readouterr().err
    assert message in messages
    assert "secret" not in messages


@pytest.mark.parametrize(
    ("in_environment", "arguments", "key"),
    [
        (None, [], None),
        ("", [], None),
        ("of-the-environment", [], "of-the-environment"),
        ("of-the-environment", ["--api-key", "of-the-line"], "of-the-line"),
    ],
)
def test_the_key_may_stand_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    in_environment: str | None,
    arguments: list[str],
    key: str | None,
) -> None:
    monkeypatch.delenv(API_KEY_VARIABLE, raising=False)
    if in_environment is not None:
        monkeypatch.setenv(API_KEY_VARIABLE, in_environment)

    server = read_arguments(
        ["--base-url", "http://127.0.0.1:8080/v1", *arguments]
    ).server

    assert server is not None
    assert server.api_key == key


def test_each_of_several_runs_has_its_log_and_the_next_one_takes_the_first_again(
    tmp_path: Path,
) -> None:
    with empty_log(None, tmp_path) as first:
        first.write_text("mine")
        with empty_log(None, tmp_path) as second:
            assert second != first
            assert first.read_text() == "mine"

    with empty_log(None, tmp_path) as third:
        assert third == first
        assert not third.read_text()


@pytest.mark.parametrize("chosen", [None, "home-assistant.log"])
def test_a_log_that_cannot_be_written_is_named(
    tmp_path: Path, chosen: str | None
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()

    with (
        pytest.raises(
            DemoError, match=f"{in_the_way}.* cannot be written .* Choose another --log"
        ),
        empty_log(None if chosen is None else in_the_way / chosen, in_the_way),
    ):
        pass
