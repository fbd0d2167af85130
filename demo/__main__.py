"""Runs the demo: starts Home Assistant, makes the home, then talks or waits for a person to do so.

The only module that prints; what a machine would read goes to stdout, everything else
to stderr.
"""

import asyncio
import contextlib
import difflib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from demo.arguments import DemoOptions, read_arguments
from demo.configuration import Configuration, write_configuration
from demo.conversation import Conversation
from demo.errors import DemoError
from demo.evaluating import evaluate
from demo.home import (
    set_up_assistant,
    set_up_home,
    set_up_shown_assistant,
    states,
    wait_for_plans,
)
from demo.home_assistant import (
    RunningHomeAssistant,
    check_port,
    free_port,
    running_home_assistant,
)
from demo.log_file import empty_log
from demo.owner import Owner, create_owner
from demo.printing import state_as_json, state_as_text, turn_as_json, turn_as_text
from demo.scripted_model import NEEDS, SENTENCES, running_scripted_model
from demo.show import ENTRY_ID, PIN, SCENES, price_of, show_entries, show_rules
from demo.translated import translated_home
from demo.web_api import HomeAssistantClient

INTERRUPTED = 130
"""The exit code of a process that Ctrl-C ended, by convention of shells."""
_ASSIST_PAGE = "/home/overview?conversation=1"
"""The page of the home, with the Assist dialog open."""
_PLANS_SOON: Final = 10.0
"""Seconds: what is planned for so soon is waited for before states are printed."""


async def run(options: DemoOptions) -> None:
    """Do what the options ask for. Raises `DemoError` when it cannot be done."""
    with (
        empty_log(options.log) as log,
        tempfile.TemporaryDirectory(
            prefix="chatterbox-demo-", ignore_cleanup_errors=True
        ) as temporary,
    ):
        folder = Path(temporary)
        port = _port(options)
        async with _entries(options) as entries:
            rules = await asyncio.to_thread(show_rules) if entries else {}
            write_configuration(
                folder,
                Configuration(
                    port=port,
                    language=options.language,
                    entries=entries,
                    home_rules=rules,
                ),
            )
            _tell(f"demo: starting Home Assistant; its log goes to {log}")
            async with running_home_assistant(folder, port, log) as home_assistant:
                async with _home(home_assistant, options, folder) as (
                    client,
                    pipeline_id,
                ):
                    if options.shows:
                        await _show(client, pipeline_id, options)
                        return
                    if options.evaluates:
                        _print(
                            await evaluate(
                                client,
                                options.evaluates,
                                _tell,
                                as_json=options.as_json,
                            )
                        )
                        return
                    if options.sentences:
                        await talk(client, pipeline_id, options)
                        return
                restart = await _wait_for_people(home_assistant, options)
            while restart:
                _tell("demo: Home Assistant starts again, as somebody asked it to")
                async with running_home_assistant(folder, port, log) as home_assistant:
                    restart = await _wait_for_people(home_assistant, options)


@contextlib.asynccontextmanager
async def _entries(
    options: DemoOptions,
) -> AsyncIterator[tuple[dict[str, JsonValue], ...]]:
    """Run the scripted model where it answers, and yield the entries that Home Assistant begins with."""
    if options.has_scripted_model:
        async with running_scripted_model() as address:
            yield show_entries(address)
    else:
        yield ()


@contextlib.asynccontextmanager
async def _home(
    home_assistant: RunningHomeAssistant, options: DemoOptions, folder: Path
) -> AsyncIterator[tuple[HomeAssistantClient, str]]:
    """Make the home; hold the owner's connection until the block is left."""
    code = await create_owner(home_assistant.url, Owner())
    async with HomeAssistantClient.connected(home_assistant.url, code) as client:
        home_file = folder / "home.yaml"
        home_file.write_text(translated_home(options.language), "utf-8")
        await set_up_home(client, home_file)
        if options.has_scripted_model:
            pipeline_id = await set_up_shown_assistant(client, ENTRY_ID)
        else:
            pipeline_id = await set_up_assistant(
                client, options.server, language=options.language
            )
        yield client, pipeline_id


async def talk(
    client: HomeAssistantClient, pipeline_id: str, options: DemoOptions
) -> None:
    """Say the sentences of the options; print their turns and then the states. `DemoError` for an unknown entity."""
    known = await states(client)
    for entity_id in options.states:
        _check_entity(entity_id, list(known))
    conversation = await Conversation.started(client, pipeline_id)
    for sentence in options.sentences:
        turn = await conversation.say(sentence)
        _print(turn_as_json(turn) if options.as_json else f"{turn_as_text(turn)}\n")
    if options.states:
        await wait_for_plans(client, _PLANS_SOON)
    known = await states(client)
    for entity_id in options.states:
        _print((state_as_json if options.as_json else state_as_text)(known[entity_id]))


async def _show(
    client: HomeAssistantClient, pipeline_id: str, options: DemoOptions
) -> None:
    """Play the scenes, each as a conversation of its own, with the price of each turn."""
    total = 0.0
    for number, scene in enumerate(SCENES, start=1):
        conversation = await Conversation.started(client, pipeline_id)
        if not options.as_json:
            _print(f"{number}. {scene.title}\n")
        for sentence in scene.sentences:
            turn = await conversation.say(sentence)
            total += price_of(turn)
            _print(
                turn_as_json(turn)
                if options.as_json
                else f"{turn_as_text(turn, price_of(turn))}\n"
            )
    _tell(
        f"demo: the model was scripted, all else is real; at the prices of a small model, this would have cost "
        f"${total:.4f}.\ndemo: script/demo opens a page on which you can say all this yourself."
    )


async def _wait_for_people(
    home_assistant: RunningHomeAssistant, options: DemoOptions
) -> bool:
    """Say where the page is; return when Home Assistant wants to be started again."""
    _print(f"Open {home_assistant.url}{_ASSIST_PAGE}")
    _tell("demo: you are signed in as the owner of the home. Ctrl-C ends it.")
    if options.has_scripted_model:
        _tell(
            "demo: Butler has a model whose answers are written beforehand. Say to it:"
        )
        for sentence in SENTENCES:
            _tell(
                f"demo:   {sentence}{f'   ({NEEDS[sentence]})' if sentence in NEEDS else ''}"
            )
        _tell(
            f"demo: The PIN of the front door is {PIN}. Offline, another assistant in the dialog, needs no model."
        )
    if await home_assistant.ended():
        return True
    raise DemoError(f"Home Assistant ended by itself. Its log: {home_assistant.log}")


def _port(options: DemoOptions) -> int:
    if options.port is None:
        return free_port()
    check_port(options.port)
    return options.port


def _check_entity(entity_id: str, known: list[str]) -> None:
    if entity_id in known:
        return
    similar = difflib.get_close_matches(entity_id, known, n=3, cutoff=0.5)
    hint = (
        f"Did you mean {' or '.join(similar)}?"
        if similar
        else "Its page lists them all under Settings."
    )
    raise DemoError(f"--state: the home has no {entity_id!r}. {hint}")


async def _run_until_stopped(options: DemoOptions) -> int:
    """Run the demo; turn Ctrl-C and its siblings into an orderly end. Return the exit code."""
    work = asyncio.ensure_future(run(options))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, work.cancel)
    try:
        await work
    except DemoError as error:
        _tell(f"demo: {error}")
        return 1
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` does; nothing can be told to them any
        # more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except asyncio.CancelledError:
        _tell("demo: stopped")
        return INTERRUPTED if options.sentences else 0
    return 0


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(asyncio.run(_run_until_stopped(read_arguments(sys.argv[1:]))))
