"""The release archive, unpacked as HACS does it into the empty configuration of a real Home Assistant, simply works.

Each Home Assistant is a process of its own from an environment that `uv.lock` pins. It
is free to install packages, as it is in a home, but cannot reach any: nothing may be
missing. What its owner does goes through the same HTTP interface as in a browser.
"""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiohttp
import pytest
from pydantic import BaseModel

import custom_components
from demo.config_flow_client import CreatedEntry, answer, entry_of, open_flow
from demo.home import states, wait_until_running
from demo.home_assistant import free_port
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient

_REPOSITORY = Path(custom_components.__file__).parents[1]
_INTEGRATION = _REPOSITORY / "custom_components" / "chatterbox"
_START_SECONDS = 120
_STOP_SECONDS = 60
_SET_UP_SECONDS = 300

# Home Assistant says this of every custom integration.
_ALWAYS_SAID = "We found a custom integration chatterbox which has not been tested by Home Assistant"

_PATH = re.compile(r"""/[^\s"']+""")

_REMINDER = "call Mum"

_CONFIGURATION = """
http:
  server_host: 127.0.0.1
  server_port: {port}
config:
frontend:
assist_pipeline:
"""


@dataclass(frozen=True, slots=True)
class _Installation:
    """A Home Assistant to install the release into: its version and the environment that holds it."""

    version: str
    environment: str
    group: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        return _REPOSITORY / self.environment / "bin" / "python"

    def packages(self) -> set[str]:
        """Name and version of everything that is installed."""
        return {
            path.name
            for path in (_REPOSITORY / self.environment).glob(
                "lib/python*/site-packages/*.dist-info"
            )
        }


_INSTALLATIONS = [
    pytest.param(
        _Installation("2026.10.4", ".venv-oldest", ("oldest",)),
        id="2026.10.4",
    ),
    pytest.param(_Installation("2026.11.0", ".venv"), id="2026.11.0"),
]


class _Entry(BaseModel):
    """A config entry as Home Assistant's API returns it."""

    entry_id: str
    domain: str
    state: str


class _Removal(BaseModel):
    require_restart: Literal[False]


class _Manifest(BaseModel):
    version: str


class _Plain(BaseModel):
    speech: str


class _Speech(BaseModel):
    plain: _Plain


class _Response(BaseModel):
    speech: _Speech
    response_type: str


class _Answer(BaseModel):
    """The result of `conversation/process`."""

    response: _Response


@pytest.fixture(scope="module")
def archive(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Path:
    """The archive that a release would offer now."""
    if isinstance(given := pytestconfig.getoption("--archive"), Path):
        return given
    path = tmp_path_factory.mktemp("release") / "chatterbox.zip"
    subprocess.run(
        [_REPOSITORY / "script" / "release", "--archive", path],
        check=True,
        timeout=300,
        stdout=subprocess.DEVNULL,
    )
    return path


@pytest.fixture(params=_INSTALLATIONS)
def installation(request: pytest.FixtureRequest) -> _Installation:
    """A Home Assistant, in its environment as the lock file describes it."""
    assert isinstance(request.param, _Installation)
    subprocess.run(
        [_REPOSITORY / "script" / "setup", *request.param.group],
        check=True,
        timeout=_SET_UP_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    return request.param


@pytest.fixture
def configuration(archive: Path, tmp_path: Path) -> Path:
    """A configuration folder with nothing but the unpacked release and an address to listen on."""
    folder = tmp_path / "configuration"
    integration = folder / "custom_components" / "chatterbox"
    integration.mkdir(parents=True)
    with zipfile.ZipFile(archive) as release:
        release.extractall(integration)
    return folder


@contextlib.asynccontextmanager
async def _running(
    installation: _Installation, configuration: Path, log: Path
) -> AsyncIterator[str]:
    """Run Home Assistant, without any package index, until the block is left; give its address."""
    port = free_port()
    (configuration / "configuration.yaml").write_text(_CONFIGURATION.format(port=port))
    are_prefixes = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_", "UV_"))
    }
    process = await asyncio.create_subprocess_exec(
        installation.python,
        *(
            "-m",
            "homeassistant",
            "--config",
            configuration,
            "--log-file",
            log,
            "--log-no-color",
        ),
        cwd=configuration,  # not here, where the integration would be found too
        env=are_prefixes | {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        try:
            async with asyncio.timeout(_START_SECONDS):
                await _answering(process, url)
        except TimeoutError as error:
            raise AssertionError(_words(log)) from error
        yield url
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()


async def _answering(process: asyncio.subprocess.Process, url: str) -> None:
    """Return as soon as the process serves `url`."""
    async with aiohttp.ClientSession() as session:
        while True:
            assert process.returncode is None, (
                f"Home Assistant ended with {process.returncode}"
            )
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{url}/api/onboarding") as response:
                    if response.ok:
                        return
            await asyncio.sleep(0.05)


async def _add_offline_service(client: HomeAssistantClient) -> CreatedEntry:
    """Add the integration as its owner does who wants no server: the first choice, and nothing to fill in."""
    step = await open_flow(client, "chatterbox")
    assert step.type == "menu"
    last = await answer(client, step, {"next_step_id": "offline"})
    return await entry_of(
        client, "chatterbox", await answer(client, last, {"name": "Chatterbox"})
    )


def _stored(configuration: Path) -> str:
    """Return all that Chatterbox has stored."""
    files = (configuration / folder for folder in (".storage", "."))
    return "".join(
        file.read_text("latin-1")
        for folder in files
        for file in folder.glob("chatterbox.*")
    )


def _of_archive(archive: Path) -> bytes:
    """Return the manifest in an archive."""
    with zipfile.ZipFile(archive) as release:
        return release.read("manifest.json")


def _words(log: Path) -> str:
    return f"Home Assistant does not answer. Its log:\n{log.read_text()}"


def _complaints(log: str) -> list[str]:
    """The entries of a log of warnings and worse that name Chatterbox, in a traceback too, or a missing package."""
    entries = re.split(r"^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", log, flags=re.MULTILINE)
    return [
        entry
        for entry in entries
        if _ALWAYS_SAID not in entry
        and re.search(
            "chatterbox|unable to install", _PATH.sub(_if_ours, entry), re.IGNORECASE
        )
    ]


def _if_ours(path: re.Match[str]) -> str:
    """Drop a path outside the unpacked release: the folder of a clone or a cache may be called Chatterbox as well."""
    return path[0] if "custom_components/chatterbox" in path[0] else ""


def test_archive_holds_the_integration_and_nothing_else(archive: Path) -> None:
    with zipfile.ZipFile(archive) as release:
        names = set(release.namelist())

    assert {
        "manifest.json",
        "__init__.py",
        "config_flow.py",
        "translations/en.json",
        "agent/loop/loop.py",
    } <= names
    assert {Path(name).suffix for name in names} <= {
        ".js",
        ".py",
        ".pyi",
        ".typed",
        ".json",
        ".toml",
        ".yaml",
        ".png",
    }
    assert all((_INTEGRATION / name).is_file() for name in names)


@pytest.mark.parametrize("version", ["", "1.0", "v1.0.0", "01.0.0", "1.0.0; id"])
def test_a_release_has_a_whole_version(version: str) -> None:
    script = _REPOSITORY / "script" / "release"
    done = subprocess.run(
        [script, "--dry-run", version], check=False, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert b"--dry-run VERSION" in done.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.timeout(_SET_UP_SECONDS + _START_SECONDS + _STOP_SECONDS + 60)
async def test_release_is_set_up_answers_and_is_removed_in_an_empty_home_assistant(
    installation: _Installation, archive: Path, configuration: Path, tmp_path: Path
) -> None:
    log = tmp_path / "home-assistant.log"
    packages = installation.packages()

    async with _running(installation, configuration, log) as url:
        code = await create_owner(url, Owner())
        async with HomeAssistantClient.connected(url, code) as client:
            version = await wait_until_running(client)
            await _add_offline_service(client)
            entries = await client.command(
                "config_entries/get", list[_Entry], domain="chatterbox"
            )
            [agent] = [
                name
                for name in await states(client)
                if name.startswith("conversation.chatterbox")
            ]
            spoken = [
                await client.post(
                    "/api/conversation/process",
                    {"text": text, "agent_id": agent},
                    _Answer,
                )
                for text in ("what time is it", f"remind me at noon to {_REMINDER}")
            ]
            manifest = await client.command(
                "manifest/get", _Manifest, integration="chatterbox"
            )
            stored = _stored(configuration)
            for entry in entries:
                await client.delete(
                    f"/api/config/config_entries/entry/{entry.entry_id}", _Removal
                )
            left = [name for name in await states(client) if "chatterbox" in name]

    assert version == installation.version
    assert [(entry.domain, entry.state) for entry in entries] == [
        ("chatterbox", "loaded")
    ]
    for one in spoken:
        assert one.response.response_type == "action_done"
        assert one.response.speech.plain.speech
    assert manifest.version == json.loads(_of_archive(archive))["version"]
    assert _REMINDER in stored
    assert left == []
    assert _REMINDER not in _stored(configuration)
    assert _ALWAYS_SAID in log.read_text()
    assert _complaints(log.read_text()) == []
    assert installation.packages() == packages
    assert not (configuration / "deps").exists()
