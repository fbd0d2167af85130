"""Stores what a release stores in tests/fixtures/releases/VERSION: `python -m tests.behaviour.upgrade VERSION`.

A real home is filled as its people do. Of its files, those of Chatterbox are taken, and
of those of Home Assistant what is about Chatterbox.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from demo.web_api import HomeAssistantClient
from tests.behaviour.durability.killed_home import SCRIPT, KilledHome
from tests.behaviour.upgrade.filled_home import fill
from tests.behaviour.upgrade.taken_files import RELEASES, keep
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving


async def _store(folder: Path) -> None:
    server = ScriptedChatCompletions(SCRIPT)
    with tempfile.TemporaryDirectory() as home_folder:
        async with serving(server.application()) as address:
            home = await KilledHome.set_up(Path(home_folder), address)
            async with (
                home.started() as (home_assistant, session),
                HomeAssistantClient.signed_in(home_assistant.url, home.token) as client,
            ):
                for text in await fill(client, session, home.agent):
                    sys.stdout.write(f"{text}\n")
        await asyncio.to_thread(keep, home.folder, folder)


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version")
    asyncio.run(_store(RELEASES / parser.parse_args().version))


if __name__ == "__main__":
    _main()
