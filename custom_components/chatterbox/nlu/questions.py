"""Understands questions: about the world around the home, and about the states of its entities."""

from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Final

from .kinds import BY_STATE, CLASSES, KINDS, ON_OFF, EntityKind
from .lexicon import ARTICLE, SILENT, WEEKDAYS, Role, tokens_of_phrase
from .reading import NAMING, Parts, PhraseSpan, Reading
from .requests import StateQuestion, WorldQuestion
from .targets import ROBOTS, places_of
from .vocabulary import HomeVocabulary, KnownEntity

_WEATHER: Final = frozenset(
    {
        "weather",
        "temperature",
        "rain",
        "snow",
        "sun",
        "wind",
        "fog",
        "clouds",
        "storm",
        "feel",
    }
)
_GENERAL: Final = frozenset({"weather", "temperature"})
"""Topics that are answered with all that the weather is."""
_WARMTH: Final = (["feel"], ["temperature"])
"""Topics of questions that are about rooms as well: "how many degrees are there in the kitchen"."""
_CLOCK: Final = (
    ["time"],
    ["date"],
    ["time", "date"],
    ["date", "time"],
    ["until"],
)
SUN: Final = ("sunrise", "sunset")
"""Topics of questions when the sun rises and sets."""
NOBODY: Final = "nobody"
"""The topic of a question about the people at home, where no person is known."""
ALONE: Final = frozenset({"help", "hello", "good_morning", "good_night", "thanks"})
"""Topics of sentences that hold nothing else."""
_WHETHER: Final = frozenset({"is", "need", "tag", "when", "will"})
_OF_OTHERS: Final = frozenset({"anyone", "where", "who"})
"""Forms of questions about people and things: "where's my umbrella"."""
_DAYS: Final = (
    ("when", "week"),
    ("will", "0"),
    ("need", "0"),
)
"""The days that forms of questions mean."""
_DATES: Final = frozenset({"1", "2", *WEEKDAYS, *(f"-{day}" for day in WEEKDAYS)})
"""Days that are one date; those with a minus are past."""
_NOW: Final = frozenset({"0", "now"})
_NEAR: Final = frozenset({"0", "1", "2"})
_ASKING: Final = SILENT | {Role.QUESTION, Role.BE}
_OF_QUESTIONS: Final = _ASKING | {
    Role.TOPIC,
    Role.ZONE,
    Role.DAY,
    Role.QUANTIFIER,
    Role.PLACE,
    Role.PRONOUN,
}
_OF_STATES: Final = (
    _ASKING
    | NAMING
    | {
        Role.STATE,
        Role.QUANTIFIER,
        Role.ASPECT,
        Role.PRONOUN,
    }
)
_SUBJECTS: Final = (
    Role.ENTITY,
    Role.KIND,
    Role.PRONOUN,
)
_OF_FOLLOWING: Final = SILENT | {Role.PLACE, Role.ENTITY, Role.QUANTIFIER}
_ENDING: Final = [Role.QUESTION, Role.ASPECT]
"""The roles of the last words of a question that ends with them: "扫地机还有多少电"."""
_ASKED_PLAINLY: Final = frozenset({"es", "it", "pt"})
"""Languages in which a question is a statement with another tone: "la finestra è aperta"."""
_VALUED: Final = frozenset({"what", "how_many"})
"""Forms of questions for a value, or for a number."""
_TIMES: Final = frozenset({"date", "datetime", "input_datetime", "time"})
"""Domains whose states are times."""
_CLASSES_OF_TIMES: Final = frozenset({"", "date", "timestamp"})
"""Those of sensors that may tell a time: a collection of waste often has no class."""
_TURNED: Final = ["closed", "locked"]
"""States of one door: "ai-je fermé la porte à clé ?"."""
_THERMOMETERS: Final = frozenset({("climate", ""), ("sensor", "temperature")})
_INDOORS: Final = StateQuestion(
    frozenset(),
    "one",
    aspect="temperature",
)
_BY_STATE: Final = {
    **BY_STATE,
    **dict.fromkeys(
        ("on", "off"),
        ON_OFF - {"remote"},
    ),
    **dict.fromkeys(
        ("home", "not_home"),
        frozenset({"person", "device_tracker"}),
    ),
}
"""The domains of entities that may be in a state."""
_SENSED: Final = CLASSES.keys() - BY_STATE.keys()
"""States of which sensors alone tell."""
_SHUT: Final = frozenset({"off", "closed", "locked"})
"""States that are wanted of all: "are the lights off?"."""
_ANY: Final = frozenset({"anything", "everything"})
MOST_TOLD: Final = 3
"""Entities whose states are told in one answer."""


def state_question(parts: Parts) -> StateQuestion | WorldQuestion | None:
    """Return the question about states that all words ask."""
    if not _asks_for_state(parts) or _passes_over_question(parts.reading):
        return None
    state_words = _StateWords(
        parts.spans,
        parts.reading,
        parts.surroundings,
    )
    if state_words.is_about_nobody:
        return WorldQuestion((NOBODY,))
    ids = state_words.ids
    if ids:
        form = state_words.form(ids)
    else:
        form = ""
    if not form:
        return None
    spoken = [parts.reading.text(one.start, one.end) for one in parts.all(Role.STATE)]
    spoken_state = spoken[-1] if spoken else ""
    return StateQuestion(
        ids,
        form,
        state_words.state,
        spoken_state,
        state_words.aspect,
    )


def _asks_for_state(parts: Parts) -> bool:
    """Return whether words begin as a question about states, and have no others."""
    roles = [span.role for span in parts.spans if span.role is not Role.FILLER]
    is_marked = parts.reading.is_asked and (
        Role.BE in roles or roles[:1] == [Role.STATE]
    )
    # "In the kitchen, which lights are on", "客厅哪些灯开着".
    unplaced = (role for role in roles if role not in {Role.PLACE, Role.PREPOSITION})
    is_begun = next(unplaced, None) in {Role.QUESTION, Role.BE}
    is_ended = roles[-1:] == [Role.QUESTION] or roles[-2:] == _ENDING  # "…吗"
    is_valued = parts.values(Role.TOPIC) == ["temperature"]
    is_asked = is_begun or is_marked or is_ended or is_valued or _is_plain(parts)
    if _is_about_warmth(parts):
        roles_of = _OF_STATES | {Role.TOPIC}
    else:
        roles_of = _OF_STATES
    is_one = len(parts.all(Role.STATE)) <= 1 or parts.values(Role.STATE) == _TURNED
    return is_asked and is_one and roles_of.issuperset(parts.by_role)


def _is_plain(parts: Parts) -> bool:
    """Return whether words tell of a named thing as a question does, where a question has the order of a statement."""
    last = parts.spans[-1]
    return (
        parts.reading.words.language in _ASKED_PLAINLY
        and last.role is Role.STATE
        and bool(parts.all(Role.ENTITY))
        and bool(parts.all(Role.BE))
    )


def _is_about_warmth(parts: Parts) -> bool:
    """Return whether words ask how warm it is in a place, or in an entity: "how many degrees are in the fridge"."""
    topics = parts.values(Role.TOPIC)
    is_in_entity = topics == ["temperature"] and bool(parts.all(Role.ENTITY))
    is_placed = bool(parts.all(Role.PLACE, Role.QUANTIFIER))
    return is_in_entity or (is_placed and topics in _WARMTH)


def _passes_over_question(reading: Reading) -> bool:
    """Return whether the first word, which may ask for names, is read as one that changes nothing: "¿qué luces …?"."""
    first = reading.spans[0]
    return first.role is Role.FILLER and any(
        meaning.role is Role.QUESTION and meaning.value == "which" and end == first.end
        for end, meaning in reading.meanings(0)
    )


class _StateWords(Parts):
    """The words of a question about states."""

    @property
    def state(self) -> str:
        """The state that is asked for; empty for any."""
        states = self.values(Role.STATE)
        if states:
            return states[-1].removeprefix("turned_")
        return ""

    @property
    def aspect(self) -> str:
        """The measured property, as far as one is asked for: "how warm is it in the kitchen"."""
        if self.all(Role.TOPIC):
            return "temperature"
        return next(
            iter(self.values(Role.ASPECT)),
            "",
        )

    @property
    def ids(self) -> frozenset[str]:
        """The entities that are meant, none if the words mean none together."""
        quantifiers = self.values(Role.QUANTIFIER)
        places = places_of(self)
        is_home = self.state == "occupied" and not places  # "is anybody in"
        if "others" in quantifiers or is_home:
            return frozenset()
        able = self._able(places)
        is_idle = bool(self.all(Role.TOPIC) or (self.aspect and places))
        if self.all(Role.PRONOUN) and not is_idle:  # "how humid is it in the bathroom"
            return self.surroundings.last & able
        named = self._named_among(able)
        found = _measuring(
            able.intersection(*named),
            self.names,
        )
        near = self.names.within(
            found,
            {self.surroundings.area_id},
        )
        is_one = self.is_whether and bool(self._kinds) and not self._is_plural
        is_here = is_one and not (places or named or quantifiers)  # "is the light on"
        return near if near and is_here else found

    def _able(
        self,
        places: Sequence[frozenset[str | None]],
    ) -> frozenset[str]:
        """Return the entities of the kinds at each of some places."""
        tests = [*self._tests()]
        return frozenset(
            one.entity_id
            for one in self.names.entities
            if all(test(one) for test in tests)
            and all(one.area_id in areas for areas in places)
        )

    def _named_among(
        self,
        able: frozenset[str],
    ) -> Sequence[frozenset[str]]:
        """Return the entities of each name, with those that measure a property of theirs."""
        named = [one.ids for one in self.named]
        if len(named) > 1 and self.all(Role.AND):
            named = [frozenset[str]().union(*named)]  # "the fan and the heater"
        if not self.aspect:
            return named
        return [ids | self._related(ids, able) for ids in named]

    def _related(
        self,
        ids: frozenset[str],
        able: frozenset[str],
    ) -> frozenset[str]:
        """Return the entities whose names hold those of others: the "Car Charger Power" of the "Car Charger"."""
        called = [*map(self._words_of, ids)]
        return frozenset(
            one for one in able if any(words <= self._words_of(one) for words in called)
        )

    def _words_of(self, entity_id: str) -> set[str]:
        """Return the words of the name of an entity, without endings: "Batería del robot aspirador"."""
        name = self.names.by_id[entity_id].names[0]
        return {*map(self.names.words.stem, tokens_of_phrase(name))}

    @property
    def is_about_nobody(self) -> bool:
        """Whether the people at home are asked about, and none is known."""
        is_plain = _ASKING | {Role.STATE}
        is_known = any(one.domain == "person" for one in self.names.entities)
        is_asked = self.state in {"home", "not_home"} and is_plain.issuperset(
            self.by_role
        )
        return is_asked and self.is_of_persons and not is_known

    @property
    def is_of_persons(self) -> bool:
        """Whether people are asked about that are not named: "who's home", "is anyone home"."""
        forms = self.values(Role.QUESTION)
        return not {"who", "anyone"}.isdisjoint(forms)

    @property
    def is_whether(self) -> bool:
        """Whether the answer is a yes or a no."""
        return {*self.values(Role.QUESTION)} <= {"is", "anyone"}

    @property
    def _kinds(self) -> Sequence[EntityKind | None]:
        values = self.values(Role.KIND)
        return [KINDS.get(one) for one in values if one not in _ANY]

    @property
    def _is_plural(self) -> bool:
        return any(
            kind.is_plural
            for value in self.values(Role.KIND)
            if (kind := KINDS.get(value))
        )

    def _tests(self) -> Iterator[Callable[[KnownEntity], bool]]:
        """Yield what the words tell of the entities."""
        state = self.state
        if state:
            yield lambda one: _may_be(one, state)
        is_subject = self.all(*_SUBJECTS)
        is_other = self._is_sensed or self.is_of_persons or self.aspect
        if self.is_whether and not (is_subject or is_other):
            yield KINDS["garage"].has  # "is the garage open"
        if self.is_of_persons:
            yield lambda one: one.domain == "person"
        aspect = self.aspect
        if aspect:
            yield lambda one: _measures(one, aspect)
        for kind in self._kinds:
            yield partial(is_of_kind, kind)

    def form(self, ids: frozenset[str]) -> str:
        """Return the key of Home Assistant's answer about entities; empty if nothing is asked about them."""
        forms = self.values(Role.QUESTION)
        is_named = bool(self.all(Role.ENTITY, Role.PRONOUN))
        if not self.state:
            is_value = (is_named or bool(self.aspect)) and not self.all(Role.KIND)
            is_where = "where" in forms and self.names.domains(ids) <= ROBOTS
            is_when = "when" in forms and self._tell_times(ids)
            is_asked = (
                is_where
                or is_when
                or not _VALUED.isdisjoint(forms)
                or self._is_value_asked(forms)
            )
            if is_value and is_asked and len(ids) <= MOST_TOLD:
                return "one"
            return ""
        if self.is_whether:
            return self._form_of_whether(ids, is_named=is_named)
        if is_named:
            return ""
        return self._form_of_which(forms)

    def _tell_times(self, ids: frozenset[str]) -> bool:
        """Return whether the states of entities may be times: "when is the garbage collection"."""
        entities = [self.names.by_id[one] for one in ids]
        return all(
            one.domain in _TIMES
            or (one.domain == "sensor" and one.device_class in _CLASSES_OF_TIMES)
            for one in entities
        )

    @property
    def _is_sensed(self) -> bool:
        return self.state in _SENSED

    def _is_value_asked(self, forms: Sequence[str]) -> bool:
        """Return whether a measured property is asked for: "how much power", "is it cold in the bedroom"."""
        is_somewhere = bool(self.all(Role.ENTITY, Role.PLACE))
        is_valued = "temperature" in self.values(Role.TOPIC)
        is_asked = "how_much" in forms or (self.is_whether and is_somewhere)
        return bool(self.aspect) and (is_asked or is_valued)

    def _form_of_which(self, forms: Sequence[str]) -> str:
        is_some = bool(self.all(Role.KIND)) or self.state in {"on", "open"}
        is_about_state = bool(self.all(Role.BE)) or not _VALUED.isdisjoint(forms)
        if self.is_of_persons:
            return "which"
        if not (is_some and is_about_state):
            return ""
        named = (one for one in ("how_many", "which") if one in forms)
        return next(
            named,
            "which" if forms == ["what"] else "",
        )

    def _form_of_whether(
        self,
        ids: frozenset[str],
        *,
        is_named: bool,
    ) -> str:
        is_one = len(ids) == 1 and not self.is_of_persons
        if is_one and (is_named or not self._is_plural):
            return "one_yesno"
        if is_named:
            if self.all(Role.AND):
                return "all"
            return ""
        if self._is_sensed or self.is_of_persons:
            return "any"
        if not self.all(Role.KIND):
            return ""
        quantifiers = self.values(Role.QUANTIFIER)
        is_all = self.state in _SHUT or "all" in quantifiers
        if is_all and "any" not in quantifiers:
            return "all"
        return "any"


def _measures(
    entity: KnownEntity,
    aspect: str,
) -> bool:
    """Return whether an entity measures something. Thermostats tell how warm it is."""
    if entity.domain == "climate":
        return aspect == "temperature"
    return entity.domain in {"sensor", "number"} and entity.device_class == aspect


def _measuring(
    ids: frozenset[str],
    names: HomeVocabulary,
) -> frozenset[str]:
    """Return the sensors among entities with thermostats, else all of them."""
    sensors = frozenset(one for one in ids if names.by_id[one].domain == "sensor")
    if names.domains(ids) == {"sensor", "climate"}:
        return sensors
    return ids


def is_of_kind(
    kind: EntityKind | None,
    entity: KnownEntity,
) -> bool:
    """Return whether an entity is of a kind, or senses whether one is open."""
    if kind is None:
        return False
    classes = {"garage_door" if one == "garage" else one for one in kind.device_classes}
    is_sensor = entity.domain == "binary_sensor" and entity.device_class in classes
    return is_sensor or kind.has(entity)


def _may_be(entity: KnownEntity, state: str) -> bool:
    """Return whether an entity may be in a state."""
    if entity.domain == "binary_sensor":
        return entity.device_class in CLASSES.get(state, ())
    return entity.domain in _BY_STATE.get(state, ())


def world_question(parts: Parts) -> WorldQuestion | None:
    """Return the question about the time or the weather that all words ask, or a greeting."""
    topics = parts.values(Role.TOPIC)
    is_elsewhere = any(span.named for span in parts.all(Role.PLACE))
    is_explained = _OF_QUESTIONS.issuperset(parts.by_role)
    if is_elsewhere or _is_told(parts) or not is_explained:
        return None
    match topics:
        case []:
            return _about_weekday(parts)
        case [topic] if topic in ALONE:
            is_alone = {Role.TOPIC, Role.FILLER}.issuperset(parts.by_role)
            return WorldQuestion((topic,)) if is_alone else None
        case ["song"]:
            is_now = _NOW.issuperset(parts.values(Role.DAY))
            is_about = "about" in parts.values(Role.PREPOSITION)  # its words
            is_here = is_now and not (is_about or parts.all(Role.ZONE))
            return WorldQuestion(("song",)) if is_here else None
        case [topic] if topic in SUN:
            return _about_sun(parts, topic)
        case _ if topics in _CLOCK:
            return _about_clock(parts, topics)
        case [_, *_] if is_about_weather(topics):
            return _about_weather(parts, topics)
        case _:
            return None


def _is_told(parts: Parts) -> bool:
    """Return whether words tell of something: "it is cold", but not "it is cold, isn't it"."""
    first = parts.spans[0]
    is_begun = first.role is Role.PRONOUN or first.value == "told"
    return is_begun and parts.spans[-1].value != "tag"


def limit_question(parts: Parts) -> WorldQuestion | None:
    """Return the question whether it is above or below some degrees: "will it be over 30 degrees tomorrow"."""
    match parts.all(Role.LIMIT, Role.AMOUNT):
        case [
            PhraseSpan(role=Role.LIMIT) as limit,
            PhraseSpan(value="degrees") | PhraseSpan(value="", number=0) as amount,
        ] if limit.end == amount.start:
            warmth = replace(limit, role=Role.TOPIC, value="feel")
        case _:
            return None
    spans = [warmth if one is limit else one for one in parts.spans]
    question = world_question(parts.of([one for one in spans if one is not amount]))
    is_whether = _WHETHER.issuperset(parts.values(Role.QUESTION))
    if question and question.is_whether and is_whether:
        return replace(question, topics=(limit.value,), limit=amount.number)
    return None


def _about_weather(
    parts: Parts,
    topics: Sequence[str],
) -> WorldQuestion | None:
    is_marked = parts.reading.is_asked
    is_indoors = bool(parts.all(Role.QUANTIFIER)) and topics in _WARMTH
    forms = {*parts.values(Role.QUESTION)}
    if any((parts.all(Role.ZONE), is_indoors, forms & _OF_OTHERS)):
        return None
    phenomena = tuple(topic for topic in topics if topic not in _GENERAL)
    is_whether = _is_whether(
        parts,
        forms,
        is_marked=is_marked and bool(phenomena),
    )
    days = parts.values(Role.DAY) or _days_of(forms)
    is_statement = topics == ["feel"] and not is_marked  # "hace frío"
    is_request = is_whether and not is_statement
    is_alone = not phenomena or len(parts.spans) == 1
    if is_whether and len(phenomena) > 1:
        return None
    if not any((forms, days, is_request, is_alone)):
        return None
    return WorldQuestion(
        phenomena or ("weather",),
        tuple(days),
        is_whether or _is_verb(phenomena, forms),
    )


def _is_verb(
    phenomena: Sequence[str],
    forms: set[str],
) -> bool:
    """Return whether a phenomenon alone asks whether it is to be expected: "regnet es morgen", "pioverà"."""
    return bool(phenomena) and "feel" not in phenomena and not forms


def _days_of(forms: set[str]) -> list[str]:
    """Return the day that a form of questions means where none is named."""
    return [day for form, day in _DAYS if form in forms][:1]


def _is_whether(
    parts: Parts,
    forms: set[str],
    *,
    is_marked: bool,
) -> bool:
    """Return whether the answer is a yes or a no: "¿llueve mañana?" is marked alone."""
    is_so = bool(parts.all(Role.BE)) or not _WHETHER.isdisjoint(forms)
    return (is_so and "what" not in forms) or (is_marked and not forms)


def is_about_weather(topics: Sequence[str]) -> bool:
    """Return whether the topics of a question are the weather."""
    return _WEATHER.issuperset(topics)


def _about_clock(
    parts: Parts,
    topics: Sequence[str],
) -> WorldQuestion | None:
    zones = parts.values(Role.ZONE)
    days = parts.values(Role.DAY)
    forms = parts.values(Role.QUESTION)
    is_topic_first = parts.spans[0].role is Role.TOPIC
    is_topic_last = parts.spans[-1].role is Role.TOPIC  # "明天几号"
    is_asked = any((forms, parts.all(Role.BE), is_topic_first, is_topic_last))
    if not is_asked or parts.all(Role.PLACE):
        return None
    is_which = "what" in forms or is_topic_first or is_topic_last
    is_dated = topics == ["date"] and len(days) == 1 and not zones
    if is_dated and is_which and days[0] in _DATES:
        return WorldQuestion(("date",), (days[0],))
    if not _NOW.issuperset(days) or len(zones) > 1:
        return None
    if zones and topics != ["time"]:
        return None
    return WorldQuestion(
        tuple(topics),
        zone=zones[0] if zones else "",
    )


def _about_weekday(parts: Parts) -> WorldQuestion | None:
    """Return the question for the date of a near day, where a weekday is named, too: "is tomorrow a Friday"."""
    days = {*parts.values(Role.DAY)}
    near = _NEAR & days
    words = {*parts.values(Role.QUESTION), *parts.values(Role.FILLER)}
    # "Do I have to work tomorrow, Friday?"
    is_plain = words <= {"is", "will", ARTICLE}
    begins = parts.spans[0].role in {Role.QUESTION, Role.BE}
    is_marked = begins or parts.reading.is_asked
    if not (is_plain and is_marked) or parts.all(Role.PLACE, Role.ZONE):
        return None
    if (len(near), len(days.intersection(WEEKDAYS)), len(days)) != (1, 1, 2):
        return None
    return WorldQuestion(("date",), (*near,))


def _about_sun(
    parts: Parts,
    topic: str,
) -> WorldQuestion | None:
    days = parts.values(Role.DAY)
    begun = parts.reading.meanings(parts.all(Role.TOPIC)[0].start)
    is_whole = any(one.role is Role.REVERSING for _, one in begun)  # "quando fa buio"
    is_asked = is_whole or not {"what", "when"}.isdisjoint(parts.values(Role.QUESTION))
    is_day = len(days) <= 1 and (_DATES | _NOW | {"night"}).issuperset(days)
    is_elsewhere = bool(parts.all(Role.ZONE, Role.PLACE))
    if is_elsewhere or not (is_asked and is_day):
        return None
    return WorldQuestion((topic,), tuple(days))


def following_question(parts: Parts) -> WorldQuestion | StateQuestion | None:
    """Return the question before, for another day, or for what is named after it: "and tomorrow", "and the kitchen"."""
    question = parts.surroundings.before
    days = parts.values(Role.DAY)
    reading = parts.reading
    names = parts.names
    is_joined = reading.is_asked or any(one.role is Role.AND for one in reading.spans)
    match question:
        case WorldQuestion(topics=topics) if not is_about_weather(topics):
            return None
        case WorldQuestion() if days and parts.by_role.keys() <= {Role.DAY, *SILENT}:
            return replace(
                question,
                days=tuple(days),
                on=None,
                hour=None,
            )
        case WorldQuestion() if is_joined:
            return _of_others(
                _INDOORS,
                _THERMOMETERS,
                parts,
            )
        case StateQuestion(ids=ids) if is_joined:
            known = (names.by_id[one] for one in ids if one in names.by_id)
            is_warm = question.aspect == "temperature"
            sorts = _THERMOMETERS if is_warm else {*map(_sort, known)}
            return _of_others(
                question,
                sorts,
                parts,
            )
        case _:
            return None


def _of_others(
    question: StateQuestion,
    sorts: AbstractSet[tuple[str, str]],
    parts: Parts,
) -> StateQuestion | None:
    """Return a question about other entities of some sorts, which words name by their names and rooms alone."""
    places = places_of(parts)
    named = [one.ids for one in parts.named]
    if not (places or named) or not _OF_FOLLOWING.issuperset(parts.by_role):
        return None
    able = frozenset(
        one.entity_id
        for one in parts.names.entities
        if _sort(one) in sorts and all(one.area_id in areas for areas in places)
    )
    found = _measuring(
        able.intersection(*named),
        parts.names,
    )
    if not found or (question.form == "one" and len(found) > MOST_TOLD):
        return None
    if question.form == "one_yesno" and len(found) > 1:
        form = "any"
    else:
        form = question.form
    return replace(
        question,
        ids=found,
        form=form,
    )


def _sort(entity: KnownEntity) -> tuple[str, str]:
    """Return what tells an entity from those of other kinds."""
    is_classed = entity.domain in {"sensor", "binary_sensor", "cover"}
    return entity.domain, entity.device_class if is_classed else ""
