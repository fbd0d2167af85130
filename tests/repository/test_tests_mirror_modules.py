"""Tests are found by the name of the module that they test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

TESTS: Final = Path(__file__).parents[1]
PRODUCT: Final = TESTS.parent / "custom_components" / "chatterbox"
_BY_TOPIC: Final = frozenset(
    {"behaviour", "bench", "demo_house", "fixtures", "repository", "support"}
)
_CONTRACT: Final = Path("agent", "providers", "contract")
"""The rules that all providers keep."""


class _Holder(NamedTuple):
    """The tests that hold a module without tests of its own."""

    tests: str
    """A file or a folder of tests."""
    reason: str


_TYPES: Final = "types without logic of their own"
_INNER: Final = "an inner part, reached through the module that is tested there"
_READER: Final = "one of the readers of a sentence, which is read as a whole"
_ELSEWHERE: Final[Mapping[str, _Holder]] = {
    "agent/events.py": _Holder("agent/test_transcript.py", _TYPES),
    "agent/protocols.py": _Holder("agent/loop", "interfaces with their contracts"),
    "agent/wire/carried_blocks.py": _Holder("agent/wire/anthropic_messages", _INNER),
    "agent/wire/openai_images.py": _Holder(
        "agent/providers/test_openai_images.py", _INNER
    ),
    "const.py": _Holder("repository/test_public_names.py", "names and defaults"),
    "effects/silent_home.py": _Holder(
        "turns/test_dry_run.py", "the home of a dry turn"
    ),
    "evaluate/predicted.py": _Holder("evaluate/test_grading.py", _INNER),
    "history/store/query.py": _Holder("history/store/test_search.py", _TYPES),
    "internals/recorder.py": _Holder("tools/own/past", _INNER),
    "later/known_plans.py": _Holder("later/test_sentences.py", _INNER),
    "later/plan_words.py": _Holder("later/test_sentences.py", _INNER),
    "nlu/calendars.py": _Holder("calendars/test_sentences.py", _READER),
    "nlu/commands.py": _Holder("nlu/understanding", _READER),
    "nlu/facts.py": _Holder("memory/test_sentences.py", _READER),
    "nlu/guests.py": _Holder("behaviour/test_guests.py", _READER),
    "nlu/kinds.py": _Holder("nlu/understanding", "a table"),
    "nlu/lexicon.py": _Holder("nlu/understanding", "the words that all sentences need"),
    "nlu/modes.py": _Holder("effects/test_device_intents.py", _READER),
    "nlu/questions.py": _Holder("nlu/understanding", _READER),
    "nlu/requests.py": _Holder("nlu/understanding", _TYPES),
    "nlu/vocabulary.py": _Holder(
        "nlu/understanding", "the names that all sentences need"
    ),
    "nlu/zones.py": _Holder("nlu/understanding", "a table"),
    "responses/protocol/backend.py": _Holder("responses/backend", "an interface"),
    "runtime/models.py": _Holder(
        "runtime/test_summaries.py", "requests outside of turns"
    ),
    "runtime/moved_parts.py": _Holder(
        "internals/test_reliance.py", "the list of what is relied on"
    ),
    "speech/text/language.py": _Holder("speech/text", _TYPES),
    "speech/text/phrases.py": _Holder("speech/text/test_time_phrases.py", _INNER),
    "tools/own/guest_mode.py": _Holder(
        "behaviour/test_guests.py", "the sentences that begin guest mode"
    ),
    "tools/own/past_states.py": _Holder(
        "tools/own/past/test_past_states.py", "needs the recorder of that folder"
    ),
    "tools/own/period.py": _Holder(
        "tools/own/past/test_period.py", "needs the recorder of that folder"
    ),
    "turns/source.py": _Holder(
        "responses/test_source.py", "an interface with defaults"
    ),
}


def _mirrors(test: Path) -> bool:
    """Return whether a test is `test_<module>.py`, or lies in a folder with the name of a module."""
    named = test.parent / test.stem.removeprefix("test_")
    modules = [
        test.parent,
        named if named.name != "init" else named.with_name("__init__"),
    ]
    return any((PRODUCT / module).with_suffix(".py").is_file() for module in modules)


def _modules() -> list[Path]:
    """Return the modules of the product that are not the name of a package alone."""
    return sorted(
        path.relative_to(PRODUCT)
        for path in PRODUCT.rglob("*.py")
        if path.name != "__init__.py"
    )


def _has_tests(path: Path) -> bool:
    """Return whether a path is a file of tests, or a folder with one."""
    return path.is_file() or any(path.glob("**/test_*.py"))


def _own_tests(module: Path) -> list[str]:
    """Return the file and the folder of the tests of a module, as far as there are any."""
    folder = module.with_suffix("")
    choices = [module.with_name(f"test_{module.name}"), folder]
    return [str(choice) for choice in choices if _has_tests(TESTS / choice)]


def test_each_test_has_the_name_of_its_module() -> None:
    tests = [test.relative_to(TESTS) for test in TESTS.rglob("test_*.py")]
    astray = [
        str(test)
        for test in sorted(tests)
        if test.parts[0] not in _BY_TOPIC
        and not test.is_relative_to(_CONTRACT)
        and not _mirrors(test)
    ]
    assert astray == []


def test_each_module_has_a_file_or_a_folder_of_tests_or_says_what_holds_it() -> None:
    without = [str(module) for module in _modules() if not _own_tests(module)]
    assert without == sorted(_ELSEWHERE)
    gone = [
        one.tests for one in _ELSEWHERE.values() if not _has_tests(TESTS / one.tests)
    ]
    assert gone == []


def test_no_module_has_both_a_file_and_a_folder_of_tests() -> None:
    both = [own for module in _modules() if len(own := _own_tests(module)) > 1]
    assert both == []


def test_each_package_with_code_has_tests() -> None:
    packages = [
        path.parent.relative_to(PRODUCT) for path in PRODUCT.rglob("*/__init__.py")
    ]
    assert [
        str(package) for package in packages if not _has_tests(TESTS / package)
    ] == []
