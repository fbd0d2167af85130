"""Options, spoken problems, repairs, code and commands on the pages are those of the product."""

import re
import shlex
from importlib.util import find_spec

import pytest

from custom_components.chatterbox.agent.providers.profiles import PROFILES
from custom_components.chatterbox.const import SUBENTRY_CONVERSATION, ServiceKind
from custom_components.chatterbox.flows.service_form import INTERFACES
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.options import (
    NUMBERS,
    SETTINGS,
    WEB,
    options_of,
    value_of,
)
from demo.arguments import read_arguments
from tests.repository.test_translations import texts_of
from tests.support.page_tables import DOCS

_TEXTS = texts_of("en")
_REPOSITORY = DOCS.parent
_WORDS = "tests/nlu/README.md"
_PAGES = sorted(
    [*DOCS.glob("**/*.md"), *_REPOSITORY.glob("*.md"), _REPOSITORY / _WORDS]
)
_SETTINGS, _TROUBLE = (
    (DOCS / name).read_text("utf-8") for name in ("settings.md", "troubleshooting.md")
)
_STEP = "config_subentries.conversation.step"
_NO_PROBLEM = {
    *(
        "asked_again",
        "asked_outside",
        "asked_unclear",
        "declined",
        "done",
        "done_many",
        "done_targets",
        "filler",
    ),
    *(
        "filler_2",
        "filler_3",
        "forgotten",
        "good_morning",
        "good_night",
        "hello",
        "help",
        "list",
        "never_mind",
        "question_dropped",
        "remembered",
        "say_pin",
        "thanks",
        "yes_or_no",
    ),
    *("asked_web", "asked_message", "asked_calendar", "outside_not_done"),
    *(
        "past_always",
        "past_by",
        "past_last",
        "past_never_since",
        "past_no",
        "past_since",
        "past_yes",
    ),
}
_RUN_BY = {  # and every `yaml` by test_documented_yaml.py
    ("README.md", "shell"): "here",
    ("diagnosing.md", "json"): "test_diagnostics_page.py",
    (_WORDS, "shell"): "here",
    (_WORDS, "toml"): "a pattern to copy",
    ("library.md", "python"): "test_library_page.py",
    ("responses-api.md", "python"): "test_api_clients.py",
    ("responses-api.md", "shell"): "test_api_clients.py",
    ("speed.md", "text"): "test_description.py",
    ("decisions/README.md", "markdown"): "a pattern to copy",
}


@pytest.mark.parametrize(
    "kind", [kind for kind in ServiceKind if kind is not ServiceKind.OFFLINE]
)
def test_every_option_is_listed_in_its_group_with_its_default_and_range(
    kind: ServiceKind,
) -> None:
    for group, options in options_of(kind, SUBENTRY_CONVERSATION).items():
        step = "settings" if group in {SETTINGS, WEB} else "advanced"
        form = f"{_STEP}.{step}"
        form += "" if group == SETTINGS else f".sections.{group}"
        title = "Settings" if group == SETTINGS else _TEXTS[f"{form}.name"]
        part = _SETTINGS.partition(f"\n### {title}\n")[2].partition("\n#")[0]
        rows = {
            row[0]: row
            for row in re.findall(
                r"^\| (.+?) \| (.+?) \| (.*?) ?\|$", part, re.MULTILINE
            )
        }
        assert {*rows} <= {"field", "---", "Name", *_TEXTS.values()}
        for option in options:
            default, _, bounds = rows[_TEXTS[f"{form}.data.{option}"]][2].partition(
                " ("
            )
            assert bounds == (f"{NUMBERS[option].range})" if option in NUMBERS else "")
            if (
                option in NUMBERS
                and (value := value_of(AgentSettings(), option)) is not None
            ):
                assert float(default.partition(";")[0]) == value


def test_every_server_and_interface_is_listed() -> None:
    servers, interfaces = (
        re.findall(rf"^\| {field} \|.*", _SETTINGS, re.MULTILINE)[0]
        for field in ("Server", "Interface")
    )
    assert [
        one.name
        for one in PROFILES.values()
        if one.base_url and one.name not in servers
    ] == []
    assert [name for name in INTERFACES.values() if name not in interfaces] == []


def test_every_spoken_problem_and_every_repair_has_its_line() -> None:
    spoken = {
        key[len("common.spoken_") :]: text
        for key, text in _TEXTS.items()
        if key.startswith("common.spoken_")
    }
    titles = [
        text for key, text in _TEXTS.items() if re.fullmatch(r"issues\.\w+\.title", key)
    ]
    first = [
        re.split(r"(?<=[.?]) ", text)[0]
        for key, text in spoken.items()
        if key not in _NO_PROBLEM
    ]
    content = [
        re.sub(r"\{\w+\}", "…", text).split(", such as")[0]
        for text in [*first, *titles]
    ]
    listed = " ".join(_TROUBLE.split())
    assert [text for text in content if f'"{text}' not in listed] == []


def test_every_block_of_code_is_run_by_a_test() -> None:
    pages = {
        page.relative_to(_REPOSITORY).as_posix().removeprefix("docs/"): page.read_text(
            "utf-8"
        )
        for page in _PAGES
    }
    blocks = {
        (name, kind)
        for name, text in pages.items()
        for kind in re.findall(r"^```(.+)\n", text, re.MULTILINE)
    }
    assert {block for block in blocks if block[1] != "yaml"} == set(_RUN_BY)


def test_the_commands_that_pages_name_take_what_is_written() -> None:
    pages = [(_REPOSITORY / name).read_text() for name in ("README.md", _WORDS)]
    blocks = "".join(re.findall(r"```shell\n(.*?)```", "".join(pages), re.DOTALL))
    inline = re.findall(
        r"`((?:script/|[\w./]*python )[^`]+)`",
        "".join(page.read_text() for page in _PAGES),
    )
    files = [
        path
        for one in ("bench", "demo", "script", "tests")
        for path in (_REPOSITORY / one).rglob("*.py")
    ]
    sources = "".join(path.read_text() for path in files)
    for line in [*blocks.splitlines(), *inline]:
        command, *arguments = shlex.split(line, comments=True)
        if command == "script/demo":
            read_arguments(arguments)
        elif command.endswith("python"):
            assert find_spec(arguments[1]), line
        assert [
            one
            for one in arguments
            if one.startswith("--") and f'"{one}"' not in sources
        ] == [], line
