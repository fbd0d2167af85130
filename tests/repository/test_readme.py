"""The figures of the README and of the summaries on the site are those that were measured."""

import re
from pathlib import Path

import pytest

import custom_components

_REPOSITORY = Path(custom_components.__file__).parents[1]
_DOCS, _MEASURED = _REPOSITORY / "docs", _REPOSITORY / "bench" / "pages"
_README = " ".join((_REPOSITORY / "README.md").read_text("utf-8").split())
_READ = r"\| {}: tokens[^\n]*\n[^\n]*\n\| first turn after a start \| {} \|"
_LEFT = r"(\d+) tokens are left"
_PROMPTS = {
    "home of `script/demo`": (
        r"agent ([\d,]+) and",
        r"it has ([\d,]+) in the demo home",
        _LEFT,
    ),
    "eight such homes, each with names of its own": (
        r"agent [\d,]+ and ([\d,]+)\.",
        r"and ([\d,]+) in eight such homes",
        _LEFT,
    ),
}
"""Sentences with what the first turn of a home reads: of core, of ours, and of ours after the warm-up."""
_COLUMNS = (r"(\d+) \| \d+ \| \d+", r"\d+ \| (\d+) \| \d+", r"\d+ \| \d+ \| (\d+)")
_FIRST_WORDS = r"time to first delta above the server's, {} entities, of the best core agent's \| ([\d.]+) times"


@pytest.mark.parametrize(
    ("sentence", "page", "measured"),
    [
        (
            r"\[(\d+) attacks, none gets through\]",
            "asks.md",
            r"\*\*(\d+) attacks, let through\*\* \|  \| \*\*0\*\*",
        ),
        (
            r"([\d.]+) questions per 100",
            "asks.md",
            r"touch none, half of them after a page \| [\d.]+ \| ([\d.]+) ",
        ),
        (
            r"\[(\d+) recorded runs, replayed\]",
            "recorded-runs.md",
            r"\*\*all\*\* \| \*\*(\d+)\*\*",
        ),
        (
            r"first words take ([\d.]+) \(300 entities\)",
            "performance.md",
            _FIRST_WORDS.format(300),
        ),
        (r"to ([\d.]+) \(10\)", "performance.md", _FIRST_WORDS.format(10)),
        *(
            (sentence, "performance.md", _READ.format(home, column))
            for home, sentences in _PROMPTS.items()
            for sentence, column in zip(sentences, _COLUMNS, strict=True)
        ),
    ],
)
def test_a_figure_is_the_measured_one(sentence: str, page: str, measured: str) -> None:
    (messages,) = re.findall(sentence, _README)
    (found,) = re.findall(measured, (_MEASURED / page).read_text("utf-8"))
    digits = len(messages.partition(".")[2])
    assert float(messages.replace(",", "")) == round(float(found), digits)


def test_each_row_of_a_summary_is_one_that_was_measured() -> None:
    measured = "".join(page.read_text("utf-8") for page in _MEASURED.glob("*.md"))
    summaries = [
        found
        for page in _DOCS.glob("*.md")
        for found in re.findall(r"(?:^\|.*\n)+", page.read_text("utf-8"), re.MULTILINE)
        if found.partition("\n")[0] in measured
    ]
    assert len(summaries) >= 6
    rows = [row for found in summaries for row in found.splitlines(keepends=True)]
    assert [row for row in rows if row not in measured] == []
