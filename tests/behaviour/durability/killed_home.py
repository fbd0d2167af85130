"""A real Home Assistant with a Chatterbox whose model is a scripted server: talked to by several people, and killed.

Knows processes and Home Assistant's interface for sentences. Must not know what is kept
of what was said.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Self

import aiohttp
from pydantic import BaseModel, RootModel

from demo.configuration import Configuration, SignIn, write_configuration
from demo.home import ChatCompletionsServer, set_up_assistant, set_up_home
from demo.home_assistant import RunningHomeAssistant, free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

SPEAKERS = 3
"""People who talk at the same time, each in a conversation that goes on after Home Assistant was killed."""
_START_SECONDS = 240.0
_ANSWER_SECONDS = 240.0
_POLL_SECONDS = 0.05
_PIECE_SECONDS = 0.004
_LIGHT_ON = ScriptedCall(
    name="intent__HassTurnOn", arguments={"area": "Kitchen", "domain": ["light"]}
)
_LOOK = ScriptedCall(name="assist__GetDateTime", id="look")

SCRIPT = Script(
    answers=(
        ScriptedAnswer(
            content="One moment.",
            tool_calls=(_LIGHT_ON, _LOOK),
            piece_delay_seconds=_PIECE_SECONDS,
        ),
        ScriptedAnswer(
            content="The light in the kitchen is on, and it is noon.",
            piece_delay_seconds=_PIECE_SECONDS,
        ),
        ScriptedAnswer(content="You are welcome.", piece_delay_seconds=_PIECE_SECONDS),
    ),
    after_last="start again",
)


class _Token(RootModel[str]):
    """A token that outlives the process."""


class _Pipeline(BaseModel):
    conversation_engine: str


class _Running(BaseModel):
    state: str


class _Response(BaseModel):
    response_type: str


class _Answer(BaseModel):
    response: _Response


@dataclass(slots=True)
class Talk:
    """The sentences of the people of the home, each once."""

    sentences: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    """Sentences with a complete answer, without an error."""
    failed: list[str] = field(default_factory=list)
    """Sentences that ended in an error, other than a connection that broke."""
    has_answer: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class KilledHome:
    """A configuration folder with everything set up; Home Assistant is started on it as often as it is killed."""

    folder: Path
    log: Path
    port: int
    token: str
    agent: str

    @property
    def database(self) -> Path:
        """The file of the history."""
        return self.folder / "chatterbox.db"

    @classmethod
    async def set_up(cls, folder: Path, model_server: str) -> Self:
        """Make a home in an empty folder, as its owner does in the dialogs, and stop it in order."""
        configuration, log, port = (
            folder / "configuration",
            folder / "home-assistant.log",
            free_port(),
        )
        await asyncio.to_thread(configuration.mkdir)
        await asyncio.to_thread(
            write_configuration,
            configuration,
            Configuration(port=port, sign_in=SignIn.PASSWORD),
        )
        async with running_home_assistant(configuration, port, log) as home_assistant:
            code = await create_owner(home_assistant.url, Owner())
            async with HomeAssistantClient.connected(
                home_assistant.url, code
            ) as client:
                await set_up_home(client)
                pipeline_id = await set_up_assistant(
                    client, ChatCompletionsServer(model_server)
                )
                pipeline = await client.command(
                    "assist_pipeline/pipeline/get", _Pipeline, pipeline_id=pipeline_id
                )
                token = await client.command(
                    "auth/long_lived_access_token",
                    _Token,
                    client_name="talk",
                    lifespan=365,
                )
        return cls(configuration, log, port, token.root, pipeline.conversation_engine)

    async def talk_until_killed(
        self, talk: Talk, moment: float, *, after_an_answer: bool
    ) -> None:
        """Start Home Assistant, talk to it, and kill it `moment` seconds after the first sentence or answer."""
        async with (
            self.started() as (home_assistant, session),
            asyncio.TaskGroup() as people,
        ):
            for speaker in range(SPEAKERS):
                people.create_task(self._speak(session, f"talk {speaker}", talk))
            if after_an_answer:
                await asyncio.wait_for(talk.has_answer.wait(), _ANSWER_SECONDS)
            await asyncio.sleep(moment)
            home_assistant.process.kill()

    async def talk(self, talk: Talk) -> None:
        """Start Home Assistant once more, let everybody say one thing, and stop it in order."""
        async with self.started() as (_, session):
            for speaker in range(SPEAKERS):
                await self._say(session, f"talk {speaker}", talk)

    @contextlib.asynccontextmanager
    async def started(
        self,
    ) -> AsyncIterator[tuple[RunningHomeAssistant, aiohttp.ClientSession]]:
        """Start Home Assistant until the block is left; the session has the token of the owner."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            running_home_assistant(self.folder, self.port, self.log) as home_assistant,
            aiohttp.ClientSession(home_assistant.url, headers=headers) as session,
        ):
            async with asyncio.timeout(_START_SECONDS):
                while not await self._is_ready(session):  # noqa: ASYNC110  # the event is in another process
                    await asyncio.sleep(_POLL_SECONDS)
            yield home_assistant, session

    @staticmethod
    async def _is_ready(session: aiohttp.ClientSession) -> bool:
        async with session.get("/api/config") as response:
            return (
                response.ok
                and _Running.model_validate_json(await response.read()).state
                == "RUNNING"
            )

    async def _speak(
        self, session: aiohttp.ClientSession, conversation: str, talk: Talk
    ) -> None:
        """Say one thing after the other until nobody is there any more."""
        with contextlib.suppress(aiohttp.ClientError):
            while True:
                await self._say(session, conversation, talk)

    async def _say(
        self, session: aiohttp.ClientSession, conversation: str, talk: Talk
    ) -> None:
        words = f"Sentence number {len(talk.sentences)}."
        talk.sentences.append(words)
        query = {"text": words, "conversation_id": conversation, "agent_id": self.agent}
        async with session.post("/api/conversation/process", json=query) as response:
            body = await response.read()
        is_answer = response.status == HTTPStatus.OK
        if (
            is_answer
            and _Answer.model_validate_json(body).response.response_type != "error"
        ):
            talk.answered.append(words)
            talk.has_answer.set()
        else:
            talk.failed.append(f"{words} {body.decode(errors='replace')}")
