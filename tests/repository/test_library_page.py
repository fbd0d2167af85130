"""The library can be installed, and the examples on its page do what the page says."""

import ast
import asyncio
import os
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

import custom_components
from custom_components.chatterbox.agent.messages import JsonValue
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

_REPOSITORY = Path(custom_components.__file__).parents[1]
_PAGE = (_REPOSITORY / "docs/library.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)
_REFUSE_HOME_ASSISTANT = """
import sys
sys.modules.update(dict.fromkeys(["homeassistant", "voluptuous", "probatio", "custom_components"]))
"""
_THE_OTHERS = """
async def others() -> None:
    async with aiohttp.ClientSession() as http:
        provider = OpenAIChatProvider(http, "http://localhost:11434/v1", "qwen3:8b")
        async with Session(provider, Toolbox([temperature])) as session:
            await follow(session)
        await by_hand(provider)
        await with_a_yes(provider)
        await with_two_yeses(provider)
        async with Session(provider, Toolbox([temperature])) as session:
            await change_of_mind(session)

asyncio.run(others())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the library, as pip does, into a folder without anything else; return it."""
    folder, wheels = (
        tmp_path_factory.mktemp("site-packages"),
        tmp_path_factory.mktemp("wheels"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(_REPOSITORY)
        wheel = build_wheel(str(wheels))
    with zipfile.ZipFile(wheels / wheel) as archive:
        archive.extractall(folder)
    return folder


def asks(room: str) -> ScriptedAnswer:
    """Script a model that measures."""
    return ScriptedAnswer(
        tool_calls=(ScriptedCall(name="temperature", arguments={"room": room}),)
    )


def acts() -> ScriptedAnswer:
    """Script a model that unlocks all doors."""
    return ScriptedAnswer(tool_calls=(ScriptedCall(name="unlock_all", arguments={}),))


def says(text: str) -> ScriptedAnswer:
    """Script a model that answers."""
    return ScriptedAnswer(content=text)


async def run(
    source: str,
    installed: Path,
    folder: Path,
    *answers: ScriptedAnswer,
    typed: str = "",
) -> tuple[str, list[dict[str, object]]]:
    """Run source code against a server with these answers; return what it printed, and the bodies it sent."""
    script = Script(models=("qwen3:8b",), answers=answers, trial_answer=None)
    server = ScriptedChatCompletions(script)
    async with serving(server.application()) as base_url:
        address = "http://localhost:11434/v1"
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-c",
                _REFUSE_HOME_ASSISTANT + source.replace(address, base_url),
            ),
            *(base_url, "qwen3:8b"),
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(installed)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            printed, complaints = await process.communicate(typed.encode())
        assert process.returncode == 0, complaints.decode()
        return printed.decode(), [dict(request.body) for request in server.requests]


def test_only_the_agent_package_is_installed(installed: Path) -> None:
    agent = _REPOSITORY / "custom_components" / "chatterbox" / "agent"
    expected = {
        path.relative_to(agent)
        for path in agent.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    _metadata, package = sorted(installed.iterdir())
    assert package.name == "chatterbox_agent"
    assert {
        path.relative_to(package) for path in package.rglob("*") if path.is_file()
    } == expected


def test_what_the_package_imports_is_declared() -> None:
    imported = {
        name.partition(".")[0]
        for path in (_REPOSITORY / "custom_components" / "chatterbox" / "agent").rglob(
            "*.py"
        )
        for node in ast.walk(ast.parse(path.read_bytes()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    project = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text())["project"]
    declared = project["dependencies"]
    assert imported - sys.stdlib_module_names == {
        re.split(r"[^\w-]", one)[0] for one in declared
    } | {"pydantic_core"}


def test_the_first_example_is_as_short_as_promised() -> None:
    assert len([line for line in _BLOCKS[0].splitlines() if line.strip()]) <= 20


@pytest.mark.usefixtures("socket_enabled")
async def test_the_first_example_runs_unchanged(
    installed: Path, tmp_path: Path
) -> None:
    printed, bodies = await run(
        _BLOCKS[0],
        installed,
        tmp_path,
        asks("kitchen"),
        says("It is 21.5 degrees."),
        asks("attic"),
        says("There it is 17."),
    )

    assert printed.splitlines() == ["It is 21.5 degrees.", "There it is 17."]
    assert "21.5" in str(bodies[1]["messages"])
    assert "How warm is the kitchen?" in str(bodies[3]["messages"]), (
        "the history is kept"
    )
    assert "Be brief." in str(bodies[3]["messages"])


@pytest.mark.usefixtures("socket_enabled")
async def test_the_other_examples_do_what_the_page_says(
    installed: Path, tmp_path: Path
) -> None:
    definitions = "".join(_BLOCKS).replace("asyncio.run(main())\n", "")
    tale = " ".join(f"and then {number}" for number in range(500))

    printed, bodies = await run(
        definitions + _THE_OTHERS,
        installed,
        tmp_path,
        *(asks("attic"), says("17 degrees.")),
        *(asks("kitchen"), says("21.5 degrees.")),
        *(asks("attic"), says("Only 17.")),
        *(acts(), says("All are open.")),
        *(
            ScriptedAnswer(content=f"{tale} The end.", piece_delay_seconds=0.3),
            says("It is 21.5 degrees."),
        ),
    )

    assert printed.splitlines() == [
        '[temperature {"room":"attic"}]',
        "17 degrees.",
        "",
        'The model wants temperature {"room": "kitchen"}',
        "21.5 degrees.",
        "Nobody goes to the attic.",
        "Only 17.",
        "Unlock front? {'front': 'locked', 'back': 'open'}",
        "Unlock front and back? {'front': 'locked', 'back': 'locked'}",
        "All are open.",
        "It is 21.5 degrees.",
    ]
    story = str(bodies[-1]["messages"])
    assert "Tell me a very long story." in story
    assert "The end." not in story


def calls(name: str, **arguments: JsonValue) -> ScriptedAnswer:
    """Script a model that calculates."""
    return ScriptedAnswer(tool_calls=(ScriptedCall(name=name, arguments=arguments),))


@pytest.mark.thorough
@pytest.mark.usefixtures("socket_enabled")
async def test_the_calculator_calculates_by_itself(
    installed: Path, tmp_path: Path
) -> None:
    source = (_REPOSITORY / "examples/calculator_auto.py").read_text(encoding="utf-8")

    printed, bodies = await run(
        source,
        installed,
        tmp_path,
        *(calls("add", a=25, b=17), says("It is 42.")),
        *(calls("multiply", a=7, b=8), calls("add", a=56, b=5), says("It is 61.")),
        *(calls("divide", a=1, b=0), says("That cannot be divided.")),
    )

    assert printed.splitlines() == [
        *("> What is 25 plus 17?", '[add {"a":25,"b":17}]', "[= 42.0]", "It is 42."),
        *(
            "> What is 7 times 8, plus 5?",
            '[multiply {"a":7,"b":8}]',
            "[= 56.0]",
            '[add {"a":56,"b":5}]',
            "[= 61.0]",
        ),
        *("It is 61.", "> What is 1 divided by 0?", '[divide {"a":1,"b":0}]'),
        *("[= ZeroDivisionError: division by zero]", "That cannot be divided."),
    ]
    assert "ZeroDivisionError" in str(bodies[-1]["messages"])


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("y\n", "42.0"),
        pytest.param(
            "n\n", "The person did not want that.", marks=pytest.mark.thorough
        ),
    ],
)
async def test_the_calculator_calculates_when_it_is_told(
    installed: Path, tmp_path: Path, *, typed: str, message: str
) -> None:
    source = (_REPOSITORY / "examples/calculator_manual.py").read_text(encoding="utf-8")

    printed, bodies = await run(
        source,
        installed,
        tmp_path,
        calls("add", a=25, b=17),
        says("There you are."),
        typed=typed,
    )

    assert printed.splitlines() == [
        'Run add {"a": 25, "b": 17}? (y/n)',
        "There you are.",
    ]
    assert message in str(bodies[-1]["messages"])
