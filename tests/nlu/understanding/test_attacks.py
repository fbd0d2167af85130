"""Thousands of sentences made of the words of a language do no more than their words name."""

import random
import tomllib
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from custom_components.chatterbox.agent.text import base_language
from custom_components.chatterbox.nlu import lexicon as lexicons
from custom_components.chatterbox.nlu.kinds import KINDS
from custom_components.chatterbox.nlu.lexicon import (
    GAP,
    Role,
    lexicon,
    tokens_of_phrase,
)
from custom_components.chatterbox.nlu.requests import (
    Choice,
    EntityCommand,
    Surroundings,
)
from custom_components.chatterbox.nlu.understanding import understand
from custom_components.chatterbox.nlu.vocabulary import HomeVocabulary
from tests.nlu.home import demo_names

LANGUAGES: Final = sorted(
    file.stem for file in Path(__file__).parents[1].glob("sentences/*.toml")
)
HERE: Final = Surroundings(
    "living_room", frozenset({"media_player.living_room_speaker"})
)
ALL: Final = 5_000 // len(LANGUAGES)
ACTS: Final = (
    "on",
    "off",
    "open",
    "close",
    "lock",
    "unlock",
    "set",
    "brighter",
    "louder",
    "pause",
    "dock",
)


def phrases(table: dict[str, dict[str, str] | str], role: str) -> list[str]:
    """Return the phrases of a role, those around other words with a gap."""
    section = table.get(role, "")
    texts = section.values() if isinstance(section, dict) else [section]
    return [
        one.strip()
        for text in texts
        for one in text.replace("\n", " ").split(",")
        if one.strip()
    ]


def named_in(sentence: str, names: HomeVocabulary) -> set[str]:
    """Return all entities that some word of a sentence may name, by name, part, kind or place."""
    heard, found = tokens_of_phrase(sentence), set[str]()
    for at in range(len(heard)):
        for _, named in names.found(heard, at):
            in_place = {
                one.entity_id for one in names.entities if one.area_id in named.ids
            }
            found |= named.ids if named.role is Role.ENTITY else in_place
        for _, meaning in names.words.phrases.found(heard, at):
            if meaning.role is Role.KIND and (kind := KINDS.get(meaning.value)):
                found |= {one.entity_id for one in names.entities if kind.has(one)}
            if meaning.role is Role.QUANTIFIER:
                is_here = meaning.value == "here"
                found |= {
                    one.entity_id
                    for one in names.entities
                    if not is_here or one.area_id == HERE.area_id
                }
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_done_is_named(language: str, pytestconfig: pytest.Config) -> None:
    """Of sentences with words that reverse them, and with places that do not exist, nothing is done at all."""
    words = lexicon(language)
    assert words
    folder = Path(lexicons.__file__).parents[1] / "languages" / base_language(language)
    table = tomllib.loads((folder / "requests.toml").read_text("utf-8"))
    acts = table["act"]
    assert isinstance(acts, dict)
    names, chance = demo_names(language, words), random.Random(language)  # noqa: S311 it builds sentences
    verbs = [
        one.strip()
        for act in ACTS
        for one in acts.get(act, "").split(",")
        if one.strip()
    ]
    targets = [name for one in names.entities for name in one.names]
    targets += [
        *(place.names[0] for place in names.places),
        *phrases(table, "kind"),
        *phrases(table, "quantifier"),
    ]
    additions = [
        "",
        "",
        "qqattic",
        "in qqattic",
        *phrases(table, "reversing"),
        *phrases(table, "state"),
    ]
    additions += [
        *phrases(table, "preposition"),
        *phrases(table, "level"),
        "50 %",
        "7",
        *targets,
    ]
    longer = " ".join((*phrases(table, "level"), *phrases(table, "state")))
    reversing = {one for one in phrases(table, "reversing") if one not in longer}
    wrong, done = list[str](), 0
    tried = ALL if pytestconfig.option.thorough else ALL // 6
    for _ in range(tried):
        target = " ".join(chance.sample(targets, chance.choice((1, 1, 2))))
        verb, addition = chance.choice(verbs), chance.choice(additions)
        command = verb.replace(GAP, target) if GAP in verb else f"{verb} {target}"
        sentence = (
            f"{addition} {command}"
            if chance.random() < 0.3
            else f"{command} {addition}"
        )
        requests = understand(sentence, names, HERE)
        ids = {
            one
            for each in requests
            if isinstance(each, (Choice, EntityCommand))
            for one in each.ids
        }
        done += bool(ids)
        is_reversed = "qq" in addition or addition in reversing
        is_named = ids <= named_in(sentence, names) | HERE.playing or not named_in(
            sentence, names
        )
        if ids and (is_reversed or not is_named):
            wrong.append(sentence)
    assert done > tried / 100
    assert [*islice(wrong, 10)] == []
