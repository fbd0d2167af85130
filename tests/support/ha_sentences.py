"""Sentences of Home Assistant in a language, drawn from its templates with the names of a home."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hassil.expression import (
    Alternative,
    Expression,
    Group,
    ListReference,
    Permutation,
    RuleReference,
    TextChunk,
)
from hassil.intents import Intents, RangeSlotList, TextSlotList
from home_assistant_intents import get_intents


@dataclass(frozen=True, slots=True)
class SentenceSource:
    """The templates of a language, and the names that fill them."""

    intents: Intents
    names: Mapping[str, Sequence[str]]
    """Names by the list of the templates that they are for: `name`, `area`, `floor`."""
    random: random.Random

    def drawn(self, count: int) -> Iterator[tuple[str, str]]:
        """Yield intents with a sentence, up to `count` of each intent but timers."""
        of_home = (one for one in self.intents.intents.items() if "Timer" not in one[0])
        for intent_type, intent in of_home:
            templates = [
                sentence for block in intent.data for sentence in block.sentences
            ]
            for template in self.random.choices(templates, k=count):
                words = " ".join(self._text(template.expression).split())
                if "{" not in words:
                    yield intent_type, words

    def _text(self, expression: Expression) -> str:
        match expression:
            case TextChunk():
                return expression.original_text
            case Alternative():
                return self._text(self.random.choice(expression.items))
            case Permutation():
                return " ".join(
                    map(
                        self._text,
                        self.random.sample(expression.items, len(expression.items)),
                    )
                )
            case Group():
                return "".join(map(self._text, expression.items))
            case RuleReference():
                return self._text(
                    self.intents.expansion_rules[expression.rule_name].expression
                )
            case ListReference(list_name=name) if name in self.names:
                return self.random.choice(self.names[name])
            case ListReference(list_name=name):
                return self._value(self.intents.slot_lists.get(name))
            case _:
                return "{"

    def _value(self, values: object) -> str:
        match values:
            case TextSlotList():
                return self._text(self.random.choice(values.values).text_in)
            case RangeSlotList():
                return str(
                    self.random.randrange(values.start, values.stop + 1, values.step)
                )
            case _:
                return "{"


def sentence_source(
    language: str, names: Mapping[str, Sequence[str]]
) -> SentenceSource:
    """Return the sentences of a language of Home Assistant."""
    return SentenceSource(
        Intents.from_dict(get_intents(language) or {}),
        names,
        random.Random(language),  # noqa: S311 no secret
    )
