"""A home for API clients: Home Assistant, its model's server and a token, as processes.

`python -m tests.behaviour.clients.home FOLDER` prints one line of JSON, an `Address`,
when API clients can begin. It writes its files to FOLDER, and ends with SIGTERM.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, RootModel

from custom_components.chatterbox.const import CONF_RESPONSES_API
from custom_components.chatterbox.flows.service_options import SECTION_API
from demo.config_flow_client import Step
from demo.configuration import Configuration, SignIn, write_configuration
from demo.home import CHATTERBOX, ChatCompletionsServer, set_up_assistant, set_up_home
from demo.home_assistant import free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient
from tests.support.servers.process import ScriptedServer, scripted_server
from tests.support.servers.script import Script

MODEL = "o3"
"""The model on the server. Its agent is called like it; llm-comply asks for reasoning where a name has this in it."""
_CENSUS = Path(__file__).parent / "config" / "custom_components" / "process_census"
_RECONFIGURE = "/api/config/config_entries/flow"


class Address(BaseModel):
    """Where the home is, and the token of its owner."""

    model_config = ConfigDict(frozen=True)

    url: str
    """Of Home Assistant."""
    model_server: str
    """Where its model's server tells what it was asked."""
    model: str
    """Entity id of the agent: what a client calls the model."""
    token: str
    """Of the owner."""
    log: Path

    @property
    def base_url(self) -> str:
        """The address that clients are given."""
        return f"{self.url}/api/chatterbox/v1"


class _Entry(BaseModel):
    entry_id: str


class _Pipeline(BaseModel):
    conversation_engine: str


class _Token(RootModel[str]):
    """A token that outlives the process."""


class _Finished(BaseModel):
    reason: Literal["reconfigure_successful"]


async def _serve(folder: Path) -> None:
    """Keep a home until this is cancelled."""
    configuration, log, port = (
        folder / "configuration",
        folder / "home-assistant.log",
        free_port(),
    )
    configuration.mkdir()
    integrations = (*Configuration(port).custom_components, _CENSUS)
    write_configuration(
        configuration, Configuration(port, SignIn.PASSWORD, integrations)
    )
    with (configuration / "configuration.yaml").open("a", encoding="utf-8") as file:
        file.write("\nprocess_census:\n")
    async with (
        scripted_server(
            Script(models=(MODEL,)),
            folder,
            module="tests.behaviour.clients.obedient_model",
        ) as server,
        running_home_assistant(configuration, port, log) as home_assistant,
    ):
        address = await _move_in(home_assistant.url, server, log)
        sys.stdout.write(f"{address.model_dump_json()}\n")
        sys.stdout.flush()
        await home_assistant.ended()


async def _move_in(url: str, server: ScriptedServer, log: Path) -> Address:
    """Set everything up as the owner does."""
    code = await create_owner(url, Owner())
    async with HomeAssistantClient.connected(url, code) as client:
        await set_up_home(client)
        pipeline_id = await set_up_assistant(
            client, ChatCompletionsServer(server.base_url, MODEL), MODEL
        )
        pipeline = await client.command(
            "assist_pipeline/pipeline/get", _Pipeline, pipeline_id=pipeline_id
        )
        await _switch_on(client)
        token = await client.command(
            "auth/long_lived_access_token", _Token, client_name="API client", lifespan=1
        )
        return Address(
            url=url,
            model_server=server.base_url.removesuffix("/v1"),
            model=pipeline.conversation_engine,
            token=token.root,
            log=log,
        )


async def _switch_on(client: HomeAssistantClient) -> None:
    """Enable the API where the service is reconfigured."""
    [entry] = await client.command(
        "config_entries/get", list[_Entry], domain=CHATTERBOX
    )
    form = await client.post(
        _RECONFIGURE, {"handler": CHATTERBOX, "entry_id": entry.entry_id}, Step
    )
    flow = f"{_RECONFIGURE}/{form.flow_id}"
    await client.post(flow, {"next_step_id": "options"}, Step)
    options: dict[str, JsonValue] = {SECTION_API: {CONF_RESPONSES_API: True}}
    await client.post(flow, options, _Finished)


async def _run(folder: Path) -> None:
    work = asyncio.ensure_future(_serve(folder))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A home that API clients talk to.")
    parser.add_argument("folder", type=Path, help="an empty one")
    asyncio.run(_run(parser.parse_args().folder))
