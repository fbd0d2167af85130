"""The texts that people read and hear: complete, alike in all languages, and as Home Assistant's checker wants them."""

import json
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import hass_frontend
import pytest
from homeassistant.helpers.config_validation import slug, string_with_no_html

import custom_components.chatterbox
from custom_components.chatterbox.agent.errors import (
    AgentError,
    BudgetSpent,
    ProviderError,
)
from custom_components.chatterbox.speech.sentences import (
    CERTIFICATE_KEY,
    ERROR_KEYS,
    NO_TLS_KEY,
)

FOLDER = Path(custom_components.chatterbox.__file__).parent / "translations"
LANGUAGES = sorted(path.stem for path in FOLDER.glob("*.json"))
FRONTEND = hass_frontend.where() / "static" / "translations"
QUESTIONS: Mapping[str, Mapping[str, str]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in FOLDER.parent.glob("speech/questions/*.json")
}
"""The sentences around a question, by language and bare key."""

# Categories that Home Assistant's checker, hassfest, allows in an integration's texts
# and that we use.
CATEGORIES = {
    *(
        "common",
        "config",
        "config_panel",
        "config_subentries",
        "device",
        "entity",
        "exceptions",
        "issues",
    ),
    *("selector", "services"),
}
OTHER_ADDRESS: Mapping[str, str] = {
    "de": r"\b(Ihn|Ihre?[nmrs]?)\b",
    "es": r"\busted(es)?\b",
    "fr": r"\b(tu|toi|te|ton|tes|t')\b",
    "nl": r"\b(u|uw)\b",
    "pl": r"\b(Pan[ai]?|ty|ci|twój|twoje?|twoja|twoich|twoim|twojego)\b",
    "pt": r"\b(tu|teus?|tuas?|tens|Querias)\b",
    "zh-Hans": "你",
}
"""Words that address a person in another way than all other texts do."""
URL = re.compile(
    r"(https?://|www\.)[a-z0-9]+([\-.][a-z0-9]+)*\.[a-z]{2,5}", re.IGNORECASE
)

type Texts = Mapping[str, str | Texts]


def texts_of(language: str) -> dict[str, str]:
    """Return all texts of a language by their place."""
    return dict(
        _flatten(json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8")))
    )


def _flatten(texts: Texts, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in texts.items():
        if isinstance(value, str):
            yield prefix + key, value
        else:
            yield from _flatten(value, f"{prefix}{key}.")


def placeholders(text: str) -> set[str]:
    """Return the names in braces."""
    return {
        name for _, name, _, _ in string.Formatter().parse(text) if name is not None
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_texts_with_the_same_placeholders(
    language: str,
) -> None:
    english = {place: placeholders(text) for place, text in texts_of("en").items()}

    assert {
        place: placeholders(text) for place, text in texts_of(language).items()
    } == english


@pytest.mark.parametrize(
    "language", [language for language in LANGUAGES if language != "en"]
)
def test_a_translation_is_not_english(language: str) -> None:
    english = texts_of("en")
    same = {
        place
        for place, text in texts_of(language).items()
        if text == english[place] and " " in text
    }

    words_of_both = {
        "de": {"config.step.first_agent.data.pin"},
        "nl": {"common.example_open", "common.example_start"},
    }.get(language, set())
    alike = {
        "common.asked_placed",
        "common.change_list",
        "common.later_plan",
        "common.rule_if",
        "common.spoken_list",
    }
    assert same <= {*alike, *words_of_both}


@pytest.mark.parametrize("language", OTHER_ADDRESS)
def test_people_are_addressed_in_one_way(language: str) -> None:
    texts, other = texts_of(language), re.compile(OTHER_ADDRESS[language])
    said_by_people = re.compile(r"common\.example_")

    assert [
        place
        for place, text in texts.items()
        if other.search(text) and not said_by_people.match(place)
    ] == []


def test_no_line_of_french_begins_with_punctuation() -> None:
    breakable = re.compile(r" [:;?!»]|« ")

    assert [
        place for place, text in texts_of("fr").items() if breakable.search(text)
    ] == []


def menus(language: str) -> list[str]:
    """Return the ways to the repairs and to the integrations, as Home Assistant's frontend names them."""
    paths = [
        next(FRONTEND.glob(f"{folder}{language}-{'?' * 32}.json"))
        for folder in ("", "config/")
    ]
    texts = dict(
        one
        for path in paths
        for one in _flatten(json.loads(path.read_text(encoding="utf-8")))
    )
    pages = ("repairs.caption", "dashboard.devices.main")
    return [
        f"{texts['panel.config']} → {texts[f'ui.panel.config.{page}']}"
        for page in pages
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_menus_have_the_names_that_home_assistant_gives_them(language: str) -> None:
    english, texts = texts_of("en"), texts_of(language)

    for menu, own in zip(menus("en"), menus(language), strict=True):
        named = [place for place, text in english.items() if menu in text]
        assert [place for place in named if own not in texts[place]] == []
        assert named != []


@pytest.mark.parametrize("language", sorted(QUESTIONS))
def test_the_sentences_around_a_question_are_alike_in_further_languages(
    language: str,
) -> None:
    english, texts = texts_of("en"), QUESTIONS[language]
    own = {key for key in QUESTIONS["ja"] if " " in english[f"common.{key}"]} - {
        "asked_placed",
        "spoken_list",
    }

    assert language not in LANGUAGES
    assert {key: placeholders(text) for key, text in texts.items()} == {
        key: placeholders(english[f"common.{key}"]) for key in QUESTIONS["ja"]
    }
    assert {key for key in own if texts[key] == english[f"common.{key}"]} == set()
    assert all(text == text.strip() and len(text) < 170 for text in texts.values())


def test_questions_are_asked_in_most_languages_in_which_home_assistant_is_spoken_to() -> (
    None
):
    query = {
        key
        for key in json.loads((FOLDER / "en.json").read_text("utf-8"))["common"]
        if key.startswith("asked_")
    }

    assert len(LANGUAGES) + len(QUESTIONS) >= 30
    assert query <= set(QUESTIONS["ja"])


def test_every_dialog_has_a_link_to_the_docs() -> None:
    step = re.compile(r"((?:config|options|config_subentries\.\w+)\.step\.\w+)\.")
    texts = texts_of("en")
    steps = {found[1] for place in texts if (found := step.match(place))}

    assert len(steps) > 15
    assert {
        one for one in steps if "({docs})" not in texts.get(f"{one}.description", "")
    } == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_as_home_assistants_checker_wants_them(language: str) -> None:
    texts = texts_of(language)

    assert {place.partition(".")[0] for place in texts} == CATEGORIES
    for place, text in texts.items():
        assert all(slug(part) for part in place.split("."))
        assert string_with_no_html(text) == text
        assert text == text.strip() != ""
        assert all(name.isidentifier() for name in placeholders(text))
        assert not re.search(r"'{\w+}'", text)
        assert not URL.search(text)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (CERTIFICATE_KEY, ProviderError),
        (NO_TLS_KEY, ProviderError),
        *((key, kind) for kind, key in ERROR_KEYS.items()),
    ],
)
def test_every_error_has_its_texts(key: str, kind: type[AgentError]) -> None:
    texts = texts_of("en")
    is_of_a_service = (
        issubclass(kind, ProviderError) and kind is not BudgetSpent
    )  # which no service says of itself

    assert f"common.spoken_{key}" in texts
    assert (f"exceptions.{key}.message" in texts) == issubclass(kind, ProviderError)
    assert (f"config.error.{key}" in texts) == is_of_a_service
    assert (f"config_subentries.conversation.error.{key}" in texts) == is_of_a_service


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_spoken_is_short_and_ends(language: str) -> None:
    spoken = {
        place: text
        for place, text in texts_of(language).items()
        if place.startswith("common.spoken_")
    }

    for place, text in spoken.items():
        assert len(text) < 170, place
        assert text.endswith((".", "。")) or place == "common.spoken_list"
