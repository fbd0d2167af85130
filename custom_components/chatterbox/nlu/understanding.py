"""Understands a sentence: every word is explained, and it means one entity.

What the rules cannot explain is not understood. They are tried on the readings of a
sentence, the most likely first.
"""

from collections.abc import Iterable, Sequence, Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from .commands import PLAIN_ACTS, commands, following_commands, groups_of, may_mean
from .kinds import KINDS, EntityKind
from .lexicon import (
    ARTICLE,
    COMMA,
    EXCEPT,
    GAP,
    POLITE,
    SILENT,
    SMALL,
    PhraseMeaning,
    Role,
    tokens,
    tokens_of_phrase,
)
from .modes import device_settings, setting_question
from .questions import (
    following_question,
    limit_question,
    state_question,
    world_question,
)
from .reading import (
    ACTING,
    DURATIONS,
    NAMING,
    Parts,
    PhraseSpan,
    Reading,
    Spans,
    read,
    telling_text,
)
from .requests import (
    Choice,
    DeviceSetting,
    EntityCommand,
    ListRequest,
    OpenQuestion,
    PlayRequest,
    SpokenRequest,
    StateQuestion,
    Surroundings,
    TimerRequest,
    UnknownName,
    WorldQuestion,
)
from .targets import PLAYER, STEPS, CommandTargets
from .vocabulary import HomeVocabulary

_OF_LISTS: Final = (SILENT | ACTING | NAMING | {Role.TEXT, Role.DAY, Role.BE}) | {
    Role.QUESTION,
    Role.QUANTIFIER,
}
_LIST: Final = "todo"
_LISTS: Final = frozenset({"list", "lists"})
_OF_COMMANDS: Final = frozenset(
    {
        Role.ACT,
        Role.VERB,
        Role.ASPECT,
        Role.LEVEL,
        Role.COLOUR,
        Role.UNIT,
        Role.QUANTIFIER,
        Role.PRONOUN,
    }
)
"""The roles of phrases that are no title where the act may be another one."""
_COMMANDING: Final = ACTING - {Role.PARTICLE}
"""The roles of words with which a command begins."""
_BEFORE_LISTS: Final = frozenset({Role.PREPOSITION, Role.PARTICLE})
_OF_ITEMS: Final = frozenset({"add", "remove", "complete"})
_STARTING: Final = frozenset({"set", "start", "on", "create"})
_OF_MUSIC: Final = SILENT | NAMING | {Role.ACT, Role.TEXT, Role.QUANTIFIER}
_OF_TIMERS: Final = SILENT | ACTING | {Role.AMOUNT, Role.KIND, Role.TEXT}
_LONGEST_UNKNOWN: Final = 3
_BEFORE_NAMES: Final = _COMMANDING | {Role.AND, Role.PREPOSITION}
_BEFORE_OTHERS: Final = frozenset({"at", "by", "find", "for", "to"})
"""Values of words before a time, or before what may be no thing of the home."""
_SETTING: Final = frozenset({Role.PARTICLE, Role.AMOUNT, Role.LEVEL, Role.COLOUR})
_AFTER_NAMES: Final = _SETTING | {Role.AND, Role.PREPOSITION, Role.KIND}
_MOST_ALIKE: Final = 3


@lru_cache(maxsize=64)
def understand(
    sentence: str, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[SpokenRequest]:
    """Return what a sentence asks for; empty if it is not understood. A turn asks often, and reads once."""
    readings = read(sentence, names)
    best: Sequence[SpokenRequest] = ()
    for reading in readings:
        if reading.unknown:
            break
        requests = _requests(
            Parts(
                reading.spans,
                reading,
                surroundings,
            )
        )
        if not any(
            isinstance(one, (Choice, OpenQuestion, UnknownName)) for one in requests
        ):
            is_choice = any(isinstance(one, Choice) for one in best)
            if requests and (not is_choice or _has_whole_names(reading)):
                return requests
        else:
            best = max(best, requests, key=_has_words_to_answer)
    if readings and not best:
        unknown = _unknown_name(readings[0])
    else:
        unknown = None
    return [unknown] if unknown else best


def _has_words_to_answer(requests: Sequence[SpokenRequest]) -> tuple[bool, bool]:
    """Return whether there is a request to ask about, and whether a name that is answered has a place in it."""
    is_placed = any(isinstance(one, Choice) and bool(one.sentence) for one in requests)
    return bool(requests), is_placed


def is_assumed(
    sentence: str,
    names: HomeVocabulary,
    domains: AbstractSet[str],
) -> bool:
    """Return whether all words of a sentence are explained, and none of them is about entities of some domains."""
    found = (Parts(one.spans, one) for one in read(sentence, names))
    explained = [parts for parts in found if not parts.all(Role.UNKNOWN, Role.TEXT)]
    return bool(explained) and not any(may_mean(parts, domains) for parts in explained)


def _has_whole_names(reading: Reading) -> bool:
    """Return whether all is named by names, no aliases or kinds: the lamp called "Lamp", before a choice of lamps."""
    named = [
        (span, one)
        for span in reading.spans
        if span.named and span.role is Role.ENTITY
        for one in span.named.ids
    ]
    is_by_name = all(
        tokens_of_phrase(reading.text(span.start, span.end))
        == tokens_of_phrase(reading.names.by_id[one].names[0])
        for span, one in named
    )
    return (
        bool(named)
        and is_by_name
        and all(span.role is not Role.KIND for span in reading.spans)
    )


def _requests(sentence: Parts) -> Sequence[SpokenRequest]:
    """Return the requests of a sentence; empty if one of them is none."""
    whole = sentence.of(_without_tag(sentence.spans))
    question = _question(whole)
    if question:
        return [question]
    settings = _settings(whole) or _with_exceptions(whole)
    if settings:
        return settings
    found: list[SpokenRequest] = []
    surroundings = whole.surroundings
    for spans in _divided(whole.spans):
        parts = replace(
            whole,
            spans=spans,
            surroundings=surroundings,
        )
        other = (
            _question(parts)
            or following_question(parts)
            or _of_list(parts)
            or _of_timer(parts)
            or _to_play(parts)
        )
        several: Sequence[SpokenRequest] = [other] if other else _commands(parts)
        if not several:
            return ()
        found += several
        surroundings = _after(several, surroundings)
    return [one for at, one in enumerate(found) if not _is_reason(one, found[at + 1 :])]


_OF_EXCEPTIONS: Final = SILENT | NAMING | ACTING | {Role.QUANTIFIER}
"""The roles of words after "except": a value there would be lost."""


def _with_exceptions(parts: Parts) -> Sequence[EntityCommand]:
    """Return a command for all things but some: "turn off all lights except the desk lamp"; empty for others."""
    spans = parts.spans
    excepting = (one for one in parts.all(Role.REVERSING) if one.value == EXCEPT)
    at = next(map(spans.index, excepting), len(spans))
    before = parts.of(spans[:at])
    after = parts.of(spans[at + 1 :])
    ending = after.all(*ACTING)
    if not after.all(*NAMING) or not _OF_EXCEPTIONS.issuperset(after.by_role):
        return ()
    may_end = any(
        one.role is Role.PARTICLE
        for span in before.spans
        for _, one in parts.reading.meanings(span.start)
    )
    if ending and (before.acts or may_end):
        return ()  # "turn all lights on except the kitchen off"
    acting = [*before.all(*ACTING), *ending]
    left_out = [span for span in after.spans if span not in ending]
    whole = commands(parts.of([*before.spans, *ending]))
    for named in ([*before.all(Role.KIND), *left_out], left_out):
        some = _entities(commands(parts.of([*acting, *named])))
        match whole:
            case [EntityCommand(ids=ids) as command] if set() < some < ids:
                return [replace(command, ids=ids - some)]
            case _:
                pass
    return ()


def _entities(requests: Iterable[SpokenRequest] | None) -> frozenset[str]:
    """Return the entities of commands; none if one of them is something else."""
    ids = set[str]()
    for one in requests or ():
        if not isinstance(one, EntityCommand):
            return frozenset()
        ids |= one.ids
    return frozenset(ids)


def _without_tag(spans: Spans) -> Spans:
    """Return spans without the last word of a command that is asked as a favour: "可以关一下台灯吗"."""
    first = spans[0]
    last = spans[-1]
    is_tag = last.role is Role.QUESTION and last.value == "is"
    is_favour = first.role is Role.FILLER and first.value == POLITE and is_tag
    is_acting = any(span.role in _COMMANDING for span in spans)
    if is_favour and is_acting:
        return spans[:-1]
    return spans


def _is_reason(
    request: SpokenRequest,
    following: Sequence[SpokenRequest],
) -> bool:
    """Return whether a request only tells why the next is made: "I'm cold, turn up the thermostat"."""
    match request, following:
        case (
            EntityCommand(act=act, ids=ids, is_elliptic=True),
            [EntityCommand(ids=next_ids), *_],
        ) if act in STEPS:
            return next_ids <= ids
        case _:
            return False


def _commands(parts: Parts) -> Sequence[SpokenRequest]:
    """Return what is to be done with things of the home; empty if the words do not ask for it."""
    settings = _settings(parts)
    if settings:
        return settings
    if _is_cut_question(parts) or _is_vague(parts):
        return ()
    return commands(parts) or following_commands(parts)


def _settings(parts: Parts) -> Sequence[SpokenRequest]:
    off = PhraseMeaning(Role.STATE, "off")
    may_say_off = any(  # "eco mode off"
        meaning == off
        for span in parts.all(Role.PREPOSITION)
        for _, meaning in parts.reading.meanings(span.start)
    )
    if _is_cut_question(parts) or may_say_off:
        return ()
    return device_settings(parts)


def _after(
    requests: Sequence[SpokenRequest],
    before: Surroundings,
) -> Surroundings:
    """Return the surroundings after some requests, to whose entities the next one may refer."""
    made = [one for one in requests if isinstance(one, EntityCommand | DeviceSetting)]
    if not made:
        return before
    ids = frozenset[str]().union(*(one.ids for one in made))
    command = made[-1] if isinstance(made[-1], EntityCommand) else None
    return replace(before, last=ids, before=command)


def _question(parts: Parts) -> WorldQuestion | StateQuestion | None:
    world = limit_question(parts) or world_question(parts)
    return world or setting_question(parts) or state_question(parts)


def _is_cut_question(parts: Parts) -> bool:
    """Return whether words without an act are asked: "lights on?"."""
    return parts.reading.is_asked and not parts.all(Role.ACT, Role.VERB)


def _divided(spans: Spans) -> list[Spans]:
    """Return the spans of each request: after a joining word, a new one begins with an act, or ends with one.

    One also begins after a reason: "it's too dark turn on the lights". An act may stand
    last: "het licht uitdoen en de gordijnen sluiten", "Licht ausmachen und Tor schließen".
    """
    starts = [
        at
        for at, (before, span) in enumerate(pairwise(spans), start=1)
        if before.role is Role.AND
        and (span.role in _COMMANDING or _has_two_acts(spans, at))
    ]
    telling = [at for at, span in enumerate(spans) if span.role not in SMALL][:2]
    match [spans[at] for at in telling]:
        case [
            PhraseSpan(role=Role.ACT, value=reason),
            PhraseSpan(role=Role.ACT | Role.VERB),
        ] if reason in STEPS:
            after_reason = telling[1:]
        case _:
            after_reason = []
    bounds = [
        0,
        *after_reason,
        *starts,
        len(spans),
    ]
    pieces = (spans[start:end] for start, end in pairwise(bounds) if start < end)
    found = [one[:-1] if one[-1].role is Role.AND else one for one in pieces]
    return [one for one in found if one]


def _has_two_acts(
    spans: Spans,
    at: int,
) -> bool:
    """Return whether an act ends before the joining word before a span, and another one follows."""
    is_ended = at > 1 and spans[at - 2].role in {Role.ACT, Role.PARTICLE}
    return is_ended and any(span.role in _COMMANDING for span in spans[at:])


def _of_list(parts: Parts) -> ListRequest | OpenQuestion | None:
    """Return what is to be done with a list and the items on it."""
    parts = _with_item(parts)
    act = parts.act or _act_of_question(parts)
    is_explained = _OF_LISTS.issuperset(parts.by_role)
    if not is_explained or act not in {*_OF_ITEMS, "read", "has"}:
        return None
    list_id = _list_meant(parts, act)
    if list_id is None:
        return None
    request = ListRequest(act, list_id)
    is_named = bool(parts.all(Role.KIND, Role.ENTITY))
    texts = parts.all(Role.TEXT)
    if act == "read":
        return _whole_list(request, parts) if is_named and not texts else None
    if len(texts) != 1 or {*parts.values(Role.DAY)} - {"0"}:
        return None
    if is_named:
        return _on_list(request, texts[0], parts)
    if _is_for_any_list(texts[0], parts, act if list_id else "add"):
        return _with_items(request, texts[0], parts.reading)
    return None


def _list_meant(
    parts: Parts,
    act: str,
) -> str | None:
    """Return the list that is named, or that of the request before; empty where there is neither, None for others.

    "Is milk on the list" is about each list.
    """
    lists = frozenset[str]().union(*(one.ids for one in parts.named))
    kinds = {*parts.values(Role.KIND)}
    last = parts.surroundings.last
    goes_on = parts.names.domains(last) == {_LIST} and act != "has"
    if goes_on and not lists and "lists" not in kinds:
        lists = last
    is_list = parts.names.domains(lists) <= {_LIST} and kinds <= _LISTS
    return "".join(lists) if is_list and len(lists) <= 1 else None


def _with_item(parts: Parts) -> Parts:
    """Return words in which the name of another entity beside a list is an item: "put coffee on the list".

    "It" is the list of the request before.
    """
    spans = parts.spans
    if parts.names.domains(parts.surroundings.last) == {_LIST}:
        it = Role.PRONOUN
        spans = [
            replace(one, role=Role.KIND, value="list") if one.role is it else one
            for one in spans
        ]
        parts = parts.of(spans)
    others = [
        one
        for one in spans
        if one.named
        and one.role is Role.ENTITY
        and _LIST not in parts.names.domains(one.named.ids)
    ]
    if len(others) == len(parts.named) and not _LISTS & {*parts.values(Role.KIND)}:
        return parts
    return parts.of(
        [replace(one, role=Role.TEXT) if one in others else one for one in spans]
    )


def _whole_list(
    request: ListRequest,
    parts: Parts,
) -> ListRequest:
    """Return a request to read a list, to count its items, or to name all lists."""
    is_counted = "how_many" in parts.values(Role.QUESTION)
    is_all = "lists" in parts.values(Role.KIND)
    return replace(
        request,
        act="count" if is_counted else "read",
        is_all=is_all,
    )


def _on_list(
    request: ListRequest,
    text: PhraseSpan,
    parts: Parts,
) -> ListRequest | OpenQuestion | None:
    """Return a request with the items of a text before or after a list."""
    reading = parts.reading
    following = [span.role for span in parts.spans if span.start == text.end]
    lists = parts.all(Role.KIND, Role.ENTITY)
    is_after = not following and any(span.end <= text.start for span in lists)
    is_answer = bool(following) and reading.heard[text.end] == COMMA
    is_before = _BEFORE_LISTS.issuperset(following[:1] or [Role.TEXT])
    if not (is_after or is_answer or is_before):
        return None
    phrase = reading.text(text.start, text.end)
    if " ".join(tokens_of_phrase(phrase)) in reading.words.indefinite:
        return OpenQuestion(
            "item",
            reading.sentence.replace(
                phrase,
                GAP,
                1,
            ),
        )
    return _with_items(request, text, reading)


def _is_for_any_list(
    text: PhraseSpan,
    parts: Parts,
    act: str,
) -> bool:
    """Return whether items are added where no list is named: "add eggs". Their words mean nothing else."""
    if any(
        parts.names.domains(one.ids) == {_LIST} for one in parts.reading.named_in(text)
    ):
        return False  # "add milk, the chores"
    after = [span.role for span in parts.spans if span.start >= text.end]
    is_last = {Role.FILLER, Role.PARTICLE}.issuperset(after)
    is_pair = parts.act == act and bool(parts.all(Role.PARTICLE))
    is_added = is_pair or _acts_before(parts.reading, text.start) == {act}
    plain: dict[tuple[int, int], bool] = {}
    for at in range(text.start, text.end):
        for end, one in parts.reading.meanings(at):
            is_one = one.role is Role.AND or one.value == ARTICLE or one.value in KINDS
            plain[at, end] = plain.get((at, end), False) or is_one
    return is_last and is_added and all(plain.values())


def _act_of_question(parts: Parts) -> str:
    """Return what a question about lists without an act wants: their names, or whether an item is there."""
    if parts.all(*ACTING):
        return ""
    forms = {*parts.values(Role.QUESTION)}
    roles = [span.role for span in parts.spans]
    begins_or_ends = {Role.BE, Role.QUESTION} & {roles[0], roles[-1]}
    if forms <= {"is"} and begins_or_ends:
        return "has"
    is_which = "lists" in parts.values(Role.KIND) and forms & {"what", "which"}
    return "read" if is_which else ""


def _with_items(
    request: ListRequest, text: PhraseSpan, reading: Reading
) -> ListRequest | None:
    """Return a request with the items of a text: "milk, eggs and bread" are three. None if one of them is no name."""
    heard = reading.heard
    words = reading.words
    spans = [
        (_after_articles(reading, start, end), end)
        for (_, start), (end, _) in pairwise(_bounds(reading, text))
        if start < end
    ]
    is_vague = any(
        " ".join(heard[start:end]) in words.indefinite for start, end in spans
    )
    is_other = any(
        one.value in _LISTS or one.role is Role.REVERSING
        for one in reading.meanings_in(text)
    )
    items = tuple(reading.text(start, end) for start, end in spans)
    is_named = bool(items) and all(telling_text(item, words) for item in items)
    if is_vague or is_other or not is_named:
        return None
    return replace(request, items=items)


def _bounds(
    reading: Reading,
    text: PhraseSpan,
) -> Sequence[tuple[int, int]]:
    """Return the ends and starts of the items of a text: commas and joining words stand between them."""
    at = text.start
    bounds = [(text.start, text.start)]
    while at < text.end:
        ends = [end for end, one in reading.meanings(at) if one.role is Role.AND]
        ends += [at + 1] * (reading.heard[at] == COMMA)
        bounds += [(at, max(ends))] if ends else []
        at = max(ends, default=at + 1)
    return [*bounds, (text.end, text.end)]


def _after_articles(
    reading: Reading,
    start: int,
    until: int,
) -> int:
    """Return where an item begins after its articles: "leche" of "la leche"."""
    ends = [
        end
        for end, meaning in reading.meanings(start)
        if meaning.value == ARTICLE and end <= until
    ]
    if ends and max(ends) < until:
        return _after_articles(reading, max(ends), until)
    return start


def _acts_before(
    reading: Reading,
    end: int,
) -> frozenset[str]:
    """Return all that the act before a word may be: "pon" stands before lights, music and items of lists."""
    for start in range(end):
        acts = [
            reading.words.acts_of(one)
            for until, one in reading.meanings(start)
            if until == end and one.role in _COMMANDING
        ]
        if acts:
            return frozenset[str]().union(*acts)
    return frozenset()


def _is_vague(parts: Parts) -> bool:
    """Return whether an act that may be another one is for a part of a name: "pon la mesa" is for no lamp."""
    acts = (_acts_before(parts.reading, one.end) for one in parts.all(Role.ACT))
    is_part = any(not (one.is_whole or one.is_kind) for one in parts.named)
    return "on" in parts.acts and is_part and any("add" in one for one in acts)


def _to_play(parts: Parts) -> PlayRequest | None:
    """Return what is to be played, and on which players if they are named after it. The words name no time."""
    titles = parts.all(Role.TEXT, Role.KIND)
    is_whole = _OF_MUSIC.issuperset(parts.by_role) and len(titles) == 1
    if parts.act != "play" or not is_whole:
        return None
    if parts.values(Role.KIND) not in ([], ["music"]):
        return None
    if parts.values(Role.QUANTIFIER) not in ([], ["home"]):
        return None
    [title] = titles
    others = [span for span in parts.spans if span is not title]
    players = frozenset[str]()
    is_named = any(span.role in NAMING | {Role.QUANTIFIER} for span in others)
    if is_named:
        groups = [*groups_of(others)]
    else:
        groups = []
    for group in groups:
        found = CommandTargets(
            parts.of(group),
            "play",
            PLAYER,
        ).found()
        if not isinstance(found, frozenset):
            return None
        players |= found
    text = parts.reading.text(title.start, title.end)
    if title.role is Role.KIND:
        query = text
    elif _is_title(title, parts.reading):
        query = telling_text(text, parts.reading.words)
    else:
        query = ""
    if query:
        return PlayRequest(
            query,
            text,
            players,
            is_each=len(players) > 1,
        )
    return None


def _is_title(
    text: PhraseSpan,
    reading: Reading,
) -> bool:
    """Return whether words after an act are a title, and nothing else that it may be for."""
    if _ends_everywhere(text, reading) or any(reading.named_in(text)):
        return False
    is_vague = _acts_before(reading, text.start) != {"play"}
    if is_vague and not _may_be_music(text, reading):
        return False
    others = {
        Role.REVERSING,
        Role.DAY,
        Role.UNIT,
        *(_OF_COMMANDS if is_vague else ()),
    }
    return others.isdisjoint(one.role for one in reading.meanings_in(text))


def _may_be_music(
    text: PhraseSpan,
    reading: Reading,
) -> bool:
    """Return whether words after an act for several things may be a title.

    "Della musica tranquilla" may, "a letto i bambini" and "musica in soffitta" may not.
    """
    kinds = set[str]()
    placed = False
    for at in range(text.start, text.end):
        found = [one for _, one in reading.meanings(at)]
        placed |= bool(kinds) and any(one.role is Role.PREPOSITION for one in found)
        kinds |= {one.value for one in found if one.role is Role.KIND}
    is_bare = not kinds and not reading.words.is_small(reading.heard[text.start])
    return is_bare or (kinds == {"music"} and not placed)


def _ends_everywhere(
    text: PhraseSpan,
    reading: Reading,
) -> bool:
    """Return whether a text ends with "everywhere", which is a part of few titles: "here there and everywhere"."""
    for at in range(text.start + 1, text.end):
        is_home = any(
            end == text.end and one.role is Role.QUANTIFIER and one.value == "home"
            for end, one in reading.meanings(at)
        )
        is_joined = any(
            one.role is Role.AND for end, one in reading.meanings(at - 1) if end == at
        )
        if is_home and not is_joined:
            return True
    return False


def _of_timer(parts: Parts) -> TimerRequest | None:
    """Return a timer to start, with its name: "a 5 minute pasta timer", "a timer for the pasta, 9 minutes"."""
    amounts = parts.all(Role.AMOUNT)
    texts = parts.all(Role.TEXT)
    is_started = not parts.all(*ACTING) or any(one in _STARTING for one in parts.acts)
    is_timer = parts.values(Role.KIND) == ["timer"] and _OF_TIMERS.issuperset(
        parts.by_role
    )
    if not (is_started and is_timer) or len(texts) > 1:
        return None
    durations = {
        span.value: int(span.number)
        for span in amounts
        if span.number.is_integer() and span.value in DURATIONS
    }
    if not 0 < len(amounts) == len(durations):
        return None
    if not texts:
        return TimerRequest(durations)
    name = _name_of_timer(texts[0], parts)
    if name:
        return TimerRequest(durations, name)
    return None


def _name_of_timer(
    text: PhraseSpan,
    parts: Parts,
) -> str:
    """Return the name of a timer: before its kind, after it, or after "for"; empty if a text is none."""
    reading = parts.reading
    before = [span for span in parts.spans if span.end <= text.start]
    after = [span.role for span in parts.spans if span.start == text.end]
    is_after_kind = before[-1].role is Role.KIND and after == [Role.AMOUNT]
    is_told = before[-1].value == "for" or after == [Role.KIND] or is_after_kind
    others = {
        Role.REVERSING,
        Role.DAY,
        Role.UNIT,
        Role.AND,
    }
    is_plain = others.isdisjoint(one.role for one in reading.meanings_in(text))
    is_number = any(reading.words.numbers.found(reading.heard, text.start))
    is_part = is_number and after == [Role.PREPOSITION]  # "three quarters of an hour"
    if is_told and is_plain and not is_part:
        return telling_text(
            reading.text(text.start, text.end),
            reading.words,
        )
    return ""


def _unknown_name(reading: Reading) -> UnknownName | None:
    """Return the name in a command that nothing has, if that is all that is not explained."""
    spans = [span for span in reading.spans if span.role is not Role.FILLER]
    unknown = [at for at, span in enumerate(spans) if span.role is Role.UNKNOWN]
    if not 0 < len(unknown) <= _LONGEST_UNKNOWN:
        return None
    is_one_name = unknown[-1] - unknown[0] < len(unknown)
    if not is_one_name or any(one.role is Role.REVERSING for one in spans):
        return None
    before = spans[: unknown[0]]
    after = spans[unknown[-1] + 1 :]
    if not _is_noun(before, after):
        return None
    start = spans[unknown[0]].start
    end = spans[unknown[-1]].end
    kind = None
    if after and after[0].role is Role.KIND and after[0].start == end:
        kind = KINDS.get(after[0].value)
    if kind:
        text = reading.text(start, after[0].end)
        return UnknownName(
            text,
            _alike(text, kind, reading.names),
        )
    if _is_for_entities(before, after):
        return UnknownName(reading.text(start, end))
    return None


def _alike(
    text: str,
    kind: EntityKind,
    names: HomeVocabulary,
) -> tuple[str, ...]:
    """Return names of things of a kind, first those with the last word of a text."""
    last = tokens(text)[-1].word
    of_kind = [one.names[0] for one in names.entities if kind.has(one)]
    called = [name for name in of_kind if last in tokens_of_phrase(name)]
    return tuple(dict.fromkeys((*called, *of_kind)))[:_MOST_ALIKE]


def _is_noun(
    before: Spans,
    after: Spans,
) -> bool:
    """Return whether a name may stand between some phrases: no time, as in "the floor lamp in December"."""
    if not before or (after and after[0].role not in _AFTER_NAMES):
        return False
    last = before[-1]
    is_placed = last.role is not Role.PREPOSITION or any(
        span.role is Role.KIND for span in before
    )
    return last.role in _BEFORE_NAMES and last.value not in _BEFORE_OTHERS and is_placed


def _is_for_entities(
    before: Spans,
    after: Spans,
) -> bool:
    """Return whether what is said around a name is done with things at home alone."""
    return any(
        span.role is Role.ACT and span.value in PLAIN_ACTS for span in (*before, *after)
    ) or any(span.role in _SETTING for span in after)
