"""Makes the requests of a trial from the exposed devices of a home, in the language of the person.

Most sentences are Home Assistant's own. What each asks for is known before: it is the
effect of the intent.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, zip_longest
from typing import Final, NamedTuple

from hassil.errors import MissingListError, MissingRuleError
from hassil.intents import IntentData, Intents, RangeSlotList, SlotList, TextSlotList
from hassil.sample import sample_sentence
from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant, State
from pydantic import BaseModel

from ..agent.messages import JsonValue
from ..agent.text import HAN, base_language, compared, heard_words, read_data_file
from ..effects.intents import intent_effects
from ..effects.reported import is_unavailable
from ..home.entities import async_get_home
from ..internals.conversation import async_texts
from ..people.guests import guest_switch
from ..tools.own.past_states import number_in
from .grading import RequestGroup, TrialRequest
from .predicted import Changes, joined_changes, predicted_changes


class _Act(BaseModel):
    """A kind of command; see requests.toml."""

    intent: str
    domain: str
    states: frozenset[str]
    combination: str = "name_only"
    slot: str = ""
    value: int = 0


class _Words(BaseModel):
    """Sentences of ours in one language."""

    value: str
    both: str
    too: str
    leave: str
    impossible: tuple[str, ...]


class _Data(BaseModel):
    acts: tuple[_Act, ...]
    asked_states: dict[str, str]
    shares: dict[RequestGroup, int]
    words: dict[str, _Words]


_DATA: Final = read_data_file(__file__, _Data)
_MOST_DEVICES: Final = 50
"""Devices for which there are commands of one kind."""
_WORD: Final = re.compile(rf"[^\W\d_]{{3,}}|[{HAN}]")
"""Occurs in a sentence beside the name: "lamp on please" is a command, "lamp 40" is none."""


class _Kind(NamedTuple):
    """A kind of Home Assistant's sentences."""

    intent: str
    combination: str
    """Of slots; see `slot_combination` in home-assistant/intents."""
    number: str = ""
    state: str = ""


_IS_SO: Final = _Kind("HassGetState", "name_state")


@dataclass(frozen=True, slots=True)
class _Command:
    act: _Act
    name: str
    text: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes sentences about the things of a home."""

    hass: HomeAssistant
    intents: Intents
    language: str
    words: _Words | None
    """None for a language without sentences of ours."""
    exposed: Mapping[str, State]
    """Things that can be reached, by their names."""
    hidden: Mapping[str, State]
    """The same of things that are not exposed."""

    async def async_by_group(self) -> Mapping[RequestGroup, Iterator[TrialRequest]]:
        """Return requests of each group, which are made as they are taken."""
        commands: list[_Command] = []
        for one in self._commands(self.exposed):
            commands += [one] if one.changes else []
            await asyncio.sleep(0)  # one takes some milliseconds
        # What is said alone is not said again in a compound, as long as there is
        # something else.
        others = [*commands[len(commands) // 2 :], *commands[: len(commands) // 2]]
        group = RequestGroup
        made = {
            group.ACT: (
                TrialRequest(
                    group.ACT,
                    one.text,
                    one.changes,
                )
                for one in commands
            ),
            group.ASK: self._questions(),
        }
        words = self.words
        if words:
            made |= {
                group.COMPOUND: self._compounds(words, others),
                group.FOLLOW_UP: self._follow_ups(words, others),
                group.MUST_NOT: self._must_nots(words),
                group.IMPOSSIBLE: (
                    TrialRequest(
                        group.IMPOSSIBLE,
                        text,
                        {},
                    )
                    for text in words.impossible
                ),
            }
        return made

    def _commands(self, devices: Mapping[str, State]) -> Iterator[_Command]:
        """Yield commands, one of each kind before the second of any."""
        fitting = [
            [
                name
                for name, one in devices.items()
                if one.domain == act.domain and one.state in act.states
            ]
            for act in _DATA.acts
        ]
        for row in islice(zip_longest(*fitting), _MOST_DEVICES):
            for act, name in zip(_DATA.acts, row, strict=True):
                kind = _Kind(
                    act.intent, act.combination, str(act.value) if act.slot else ""
                )
                if name and (text := self._sentence(kind, name, act.domain)):
                    yield _Command(
                        act,
                        name,
                        text,
                        self._changes(
                            act,
                            name,
                            devices[name],
                        ),
                    )

    def _changes(
        self,
        act: _Act,
        name: str,
        state: State,
    ) -> Changes:
        """Return what a command asks for; nothing if it would act on anything else as well."""
        slots: dict[str, JsonValue] = {
            "name": name,
            **({act.slot: act.value} if act.slot else {}),
        }
        effects = intent_effects(
            self.hass,
            act.intent,
            slots,
            CONVERSATION,
        )
        if effects.is_known:
            changes = predicted_changes(effects, slots)
            if changes.keys() == {state.entity_id}:
                return changes
        return {}

    def _questions(self) -> Iterator[TrialRequest]:
        group = RequestGroup.ASK
        words = self.words
        named = self.exposed.items()
        numbers = (
            TrialRequest(
                group,
                words.value.format(name=name),
                {},
                number=number,
            )
            for name, state in named
            if state.domain == "sensor"
            and words
            and (number := number_in(state.state)) is not None
        )
        return (
            one for row in zip_longest(numbers, self._states()) for one in row if one
        )

    def _states(self) -> Iterator[TrialRequest]:
        """Yield questions whether a thing is in a state."""
        for name, state in self.exposed.items():
            asked_state = _DATA.asked_states.get(state.domain)
            if asked_state and (
                text := self._sentence(
                    _IS_SO._replace(state=asked_state), name, state.domain
                )
            ):
                known = TrialRequest(
                    RequestGroup.ASK, f"{text}?", {}, is_so=state.state == asked_state
                )
                yield replace(
                    known,
                    asked_state=asked_state,
                    entity_id=state.entity_id,
                )

    def _compounds(
        self, words: _Words, commands: list[_Command]
    ) -> Iterator[TrialRequest]:
        for one, two in zip(commands[::2], commands[1::2], strict=False):
            if one.name != two.name:
                text = words.both.format(
                    first=one.text,
                    second=two.text,
                )
                yield TrialRequest(
                    RequestGroup.COMPOUND,
                    text,
                    joined_changes([one.changes, two.changes]),
                )

    def _follow_ups(
        self, words: _Words, commands: list[_Command]
    ) -> Iterator[TrialRequest]:
        for act in _DATA.acts:
            alike = [one for one in commands if one.act == act][:2]
            if len(alike) == 2 and not act.slot:  # noqa: PLR2004  # one, and another one
                text = words.too.format(name=alike[1].name)
                yield TrialRequest(
                    RequestGroup.FOLLOW_UP,
                    text,
                    alike[1].changes,
                    alike[0].text,
                    alike[0].changes,
                )

    def _must_nots(self, words: _Words) -> Iterator[TrialRequest]:
        hidden = (one.text for one in self._commands(self.hidden))
        left = (
            words.leave.format(name=name)
            for name, one in self.exposed.items()
            if one.domain in _DATA.asked_states
        )
        for row in zip_longest(hidden, left):
            yield from (
                TrialRequest(
                    RequestGroup.MUST_NOT,
                    text,
                    {},
                )
                for text in row
                if text
            )

    def _sentence(
        self,
        kind: _Kind,
        name: str,
        domain: str,
    ) -> str:
        """Return a sentence of Home Assistant's about a thing; empty if there is none."""
        found = self.intents.intents.get(kind.intent)
        for data in found.data if found else ():
            domains = (data.requires_context or {}).get("domain") or ()
            is_meant = domain in ([domains] if isinstance(domains, str) else domains)
            if (
                is_meant
                and (data.metadata or {}).get("slot_combination") == kind.combination
            ):
                for text in self._samples(data, kind, name):
                    if kind.number in text and _WORD.search(
                        compared(text).replace(compared(name), " ")
                    ):
                        return text
        return ""

    def _samples(
        self,
        data: IntentData,
        kind: _Kind,
        name: str,
    ) -> Iterator[str]:
        """Yield one sample of each sentence, with this name, and with the number or state of its kind."""
        lists = {
            key: _narrowed(one, kind) for key, one in self.intents.slot_lists.items()
        }
        lists["name"] = TextSlotList.from_strings([name])
        rules = {
            **self.intents.expansion_rules,
            **data.expansion_rules,
        }
        for sentence in data.sentences:
            samples = sample_sentence(
                sentence, lists, rules, language=self.language, skip_optionals=True
            )
            try:
                yield from (" ".join(text.split()) for text in islice(samples, 1))
            except MissingListError, MissingRuleError:  # of areas, floors or zones
                continue


def _narrowed(slot_list: SlotList, kind: _Kind) -> SlotList:
    if isinstance(slot_list, RangeSlotList) and kind.number:
        return TextSlotList.from_strings([kind.number])
    if isinstance(slot_list, TextSlotList):
        fitting = [one for one in slot_list.values if one.value_out == kind.state]
        return TextSlotList(slot_list.name, fitting or slot_list.values)
    return slot_list


def _devices(hass: HomeAssistant) -> tuple[dict[str, State], dict[str, State]]:
    """Return the exposed things and the others, by names that mean nothing else."""
    exposed = {
        one.entity_id: one.names[0]
        for one in async_get_home(hass, CONVERSATION).entities
        if one.names
    }
    guest_mode = guest_switch(hass)  # is switched on by sentences of its own
    states = [one for one in hass.states.async_all() if one.entity_id != guest_mode]
    states.sort(key=lambda state: state.entity_id)
    names = {
        one.entity_id: compared(exposed.get(one.entity_id, one.name)) for one in states
    }
    known = Counter(names.values())
    parts = Counter(
        part for entity_id, name in names.items() for part in _parts(entity_id, name)
    )
    found: tuple[dict[str, State], dict[str, State]] = {}, {}
    for state in states:
        name = names[state.entity_id]
        is_clear = known[name] == 1 and parts[state.domain, heard_words(name)] <= 1
        if is_clear and not is_unavailable(hass, state.entity_id):
            found[state.entity_id not in exposed][
                exposed.get(state.entity_id, state.name)
            ] = state
    return found


def _parts(
    entity_id: str,
    name: str,
) -> Iterable[tuple[str, Sequence[str]]]:
    """Return the parts of a name that may be names of other things of a domain, itself included."""
    words = heard_words(name)
    return {
        (entity_id.partition(".")[0], words[start:end])
        for start, end in combinations(range(len(words) + 1), 2)
    }


async def async_make_requests(
    hass: HomeAssistant, language: str, most: int
) -> list[TrialRequest]:
    """Return at most `most` requests. There are fewer in a small home, and none in an unknown language."""
    texts = await async_texts(hass, language)
    if texts is None:
        return []
    writer = _Writer(
        hass,
        texts.intents,
        language,
        _DATA.words.get(base_language(language)),
        *_devices(hass),
    )
    made: list[list[TrialRequest]] = []
    of_all = sum(_DATA.shares.values())
    for group, requests in (await writer.async_by_group()).items():
        made.append([])
        share = _DATA.shares[group] * most
        for _ in range(-(-share // of_all)):  # rounded up
            await asyncio.sleep(0)
            made[-1] += islice(requests, 1)
    return [one for row in zip_longest(*made) for one in row if one][:most]
