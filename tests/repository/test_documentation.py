"""The targets of links and names in the documentation exist."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import custom_components
from bench.instructions import count, sentences_of, user_pages
from custom_components.chatterbox.flows.dialog import SECTIONS

_REPOSITORY = Path(custom_components.__file__).parents[1]
_PAGES = sorted(
    [
        page
        for folder in ("", "docs/**/", "bench/pages/", "tests/nlu/")
        for page in _REPOSITORY.glob(f"{folder}*.md")
    ]
)
_LINK = re.compile(r"""(?:\]\(|(?:src|srcset|href)=")([^)"#\s]+)""")
_SCRIPT = re.compile(r"\b(?:script|\.ci)/[a-z0-9-]+\b")


def test_links_lead_somewhere() -> None:
    links = {
        (page, link)
        for page in _PAGES
        for link in _LINK.findall(page.read_text())
        if "://" not in link
    }
    assert [
        (page.name, link) for page, link in links if not (page.parent / link).exists()
    ] == []


def test_sections_that_dialogs_and_the_panel_link_are_there() -> None:
    panel = (_REPOSITORY / "frontend/src/panel.ts").read_text("utf-8")
    of_views = dict(
        re.findall(r'^  "?([\w/]+)"?: "([\w-]+/#[\w-]+)",$', panel, re.MULTILINE)
    )
    assert of_views.keys() >= {"now", *re.findall(r'case "(\w+)":', panel)}
    for section in {*SECTIONS.values(), *of_views.values()}:
        page, _, anchor = section.partition("/#")
        text = (_REPOSITORY / f"docs/{page}.md").read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert anchor in {heading.lower().replace(" ", "-") for heading in headings}


def test_scripts_that_are_named_can_be_run() -> None:
    scripts = {
        _REPOSITORY / name
        for page in _PAGES
        for name in _SCRIPT.findall(page.read_text())
    }
    assert {script for script in scripts if not script.stat().st_mode & 0o100} == set()


def test_no_page_is_long() -> None:
    """Tables, what a list says about a name, and code are looked up, all else is read."""
    pages = {page.name: page.read_text() for page in _REPOSITORY.glob("docs/*.md")}
    prose = {
        page: re.sub(
            r"```(?s:.*?)```|^\|.*$|^ *- \*\*[^*]+\*\*:.*(?:\n +\S.*)*",
            "",
            text,
            flags=re.MULTILINE,
        )
        for page, text in pages.items()
    }
    assert [page for page, text in prose.items() if len(text.split()) > 1_500] == []


def test_the_site_is_short() -> None:
    """Counted as `wc -w` counts, without records of decisions."""
    names = re.findall(
        r": ((?!decisions/)[\w/-]+\.md)$",
        (_REPOSITORY / "mkdocs.yml").read_text("utf-8"),
        re.MULTILINE,
    )
    text = " ".join((_REPOSITORY / "docs" / name).read_text("utf-8") for name in names)
    assert len(names) <= 34
    assert len(text.split()) <= 32_000


def test_a_quarter_of_what_users_read_are_instructions_in_short_sentences() -> None:
    counts = count(
        sentence
        for page in user_pages()
        for sentence in sentences_of((_REPOSITORY / "docs" / page).read_text("utf-8"))
    )
    assert counts.share >= 0.25, "python -m bench.instructions prints each page"
    assert counts.words_each <= 13


def test_a_change_is_a_line_until_it_is_released() -> None:
    """`script/release` reads the sections of versions; the first release tells what there is."""
    text = (_REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    titles = re.findall(r"^## (.+)", text, re.MULTILINE)
    versions = [
        tuple(int(number) for number in re.findall(r"\d+", title.partition(",")[0]))
        for title in titles[1:]
    ]
    assert titles[0] == "Unreleased"
    assert versions == sorted(versions, reverse=True)
    _, unreleased, *_, first = re.split(r"^## .+\n", text, flags=re.MULTILINE)
    changes = re.findall(r"^- .*\n(?:  .*\n)*", unreleased, re.MULTILINE)
    assert "".join(changes).split() == unreleased.split()
    assert [change for change in changes if len(change.split()) > 50] == []
    assert versions[-1] == (1, 0, 0)
    assert len(first.split()) <= 400


def test_readme_shows_the_two_commands_first() -> None:
    [first_block, *_] = re.findall(
        r"```shell\n(.*?)```", (_REPOSITORY / "README.md").read_text(), re.DOTALL
    )
    assert [line.split()[0] for line in first_block.splitlines()] == [
        "script/demo",
        "script/test",
    ]


def test_contributing_stays_short() -> None:
    lines = (_REPOSITORY / "CONTRIBUTING.md").read_text().splitlines()
    assert len(lines) <= 100


def test_the_glossary_is_short_and_names_modules_that_are_there() -> None:
    modules = re.findall(
        r"^- \*\*.+\*\*, `(.+?)`: .",
        (_REPOSITORY / "docs" / "glossary.md").read_text(),
        re.MULTILINE,
    )
    assert 20 < len(modules) <= 30
    assert [
        module
        for module in modules
        if not (_REPOSITORY / "custom_components/chatterbox" / module).exists()
    ] == []


def test_the_pictures_are_those_that_the_browser_tests_take() -> None:
    tests = "".join(
        path.read_text()
        for path in (_REPOSITORY / "tests/behaviour/browser").glob("test_*.py")
    )
    taken = re.findall(r'camera\.take_\w+\([\w.]+, "([\w-]+)"\)', tests)
    assert sorted(taken) == sorted(
        path.stem for path in (_REPOSITORY / "docs/images").glob("*.png")
    )
    pages = "".join(page.read_text() for page in _PAGES)
    assert [name for name in taken if f"images/{name}.png" not in pages] == []


def test_each_decision_that_holds_is_cited_by_the_module_that_it_names() -> None:
    records = {
        int(page.name[:4]): page.read_text()
        for page in (_REPOSITORY / "docs/decisions").glob("0*.md")
    }
    citations: defaultdict[int, list[str]] = defaultdict(list)
    for folder in ("custom_components/chatterbox", "bench", "tests"):
        for path in sorted((_REPOSITORY / folder).rglob("*.py")):
            named = path.relative_to(
                _REPOSITORY / "custom_components/chatterbox", walk_up=True
            ).as_posix()
            for number in re.findall(r"\b[Dd]ecision[\s#]+(\d+)\b", path.read_text()):
                citations[int(number)].append(named.removeprefix("../../"))
    assert {
        number: citations[number] for number in citations.keys() - records.keys()
    } == {}, "closed, or never made"
    assert [
        number
        for number in records
        if not any(f"`{path}`" in records[number] for path in citations[number])
    ] == []


def test_each_decision_is_listed_once_as_holding_or_as_closed() -> None:
    folder = _REPOSITORY / "docs/decisions"
    listed = re.findall(
        r"^\| (\d+) \| \[[^]]+\]\(([\w./-]+)\)",
        (folder / "README.md").read_text(),
        re.MULTILINE,
    )
    numbers = Counter(int(number) for number, _ in listed)
    assert [number for number, times in numbers.items() if times > 1] == []
    records = [*sorted(folder.glob("0*.md")), *sorted(folder.glob("closed/0*.md"))]
    assert [path for _, path in listed] == [
        record.relative_to(folder).as_posix() for record in records
    ]
