"""The answer of a person is a yes only if it is plainly one."""

from functools import cache

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.text import fold, spoken_words
from custom_components.chatterbox.approvals.answers.language import (
    WORDINGS,
    Action,
    phrases_of,
)
from custom_components.chatterbox.approvals.answers.yes_or_no import (
    MAX_WORDS,
    Meaning,
    QuestionContext,
    understand_answer,
    understand_choice,
    understood_language,
)

YES, NO, OTHER = Meaning.YES, Meaning.NO, Meaning.OTHER
DOOR = QuestionContext(Action.UNLOCK, ("Front door",))
LANGUAGES = st.sampled_from(sorted(WORDINGS))
DOORS = (
    [frozenset({"front", "door"}), frozenset({"hall"})],
    [frozenset({"back", "door"}), frozenset({"kitchen"})],
)
LIGHTS = (
    [frozenset({"light"})],
    [frozenset({"light", "2"})],
    [frozenset({"floor", "lamp"})],
)


@cache
def phrases(language: str, *fields: str) -> list[str]:
    """Return the phrases of a language that name neither a device nor an action."""
    templates = [
        template for field in fields for template in getattr(WORDINGS[language], field)
    ]
    return sorted(" ".join(phrase) for phrase in phrases_of(templates))


@cache
def vocabulary(language: str) -> frozenset[str]:
    """Return every word that may stand in a yes to a question that named nothing."""
    wording = WORDINGS[language]
    templates = (
        *wording.yes,
        *wording.yes_alone,
        *wording.after_yes,
        *wording.courtesies,
    )
    words = frozenset(word for phrase in phrases_of(templates) for word in phrase)
    return words | frozenset(map(fold, words))


def agreed(language: str) -> st.SearchStrategy[str]:
    """Draw something that is a yes."""
    return st.sampled_from(phrases(language, "yes", "yes_alone"))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes please", YES),
        ("yeah go ahead", YES),
        ("sure, unlock it", YES),
        ("Yes. The front door!", YES),
        ("okay, open the front door please", YES),
        ("unlock the front door", OTHER),
        ("please", OTHER),
        ("no, leave it", NO),
        ("don't unlock the front door", NO),
        ("not the front door", NO),
        ("no, don't", NO),
        ("don't leave it", OTHER),
        ("yes, unlock the back door", OTHER),
        ("yes, lock it", OTHER),
        ("yes, both", OTHER),
        ("no, both", OTHER),
        ("", OTHER),
        ("...", OTHER),
    ],
)
def test_answers_to_a_question_about_one_door(text: str, answer: Meaning) -> None:
    assert understand_answer(text, "en", DOOR) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes", YES),
        ("yes, both", YES),
        ("yes, unlock them all", YES),
        ("yes, unlock it", OTHER),
        ("yes, the front door", OTHER),
        ("don't unlock them", NO),
        ("leave it", NO),
    ],
)
def test_answers_to_a_question_about_several_doors(text: str, answer: Meaning) -> None:
    assert (
        understand_answer(text, "en", QuestionContext(Action.UNLOCK, several=True))
        is answer
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes", YES),
        ("go ahead", YES),
        ("yes, unlock it", OTHER),
        ("yes, the front door", OTHER),
        ("leave it", NO),
    ],
)
def test_an_answer_repeats_nothing_that_was_not_asked(
    text: str, answer: Meaning
) -> None:
    assert understand_answer(text, "en") is answer


def test_the_whole_question_may_be_repeated_behind_a_yes() -> None:
    words = "unlock the Front Door, open the Garage Door and 4 more"
    question = QuestionContext(several=True, repetition=words)

    assert understand_answer(f"Yes please, {words.lower()}!", "en", question) is YES
    assert understand_answer(words, "en", question) is OTHER
    assert understand_answer(f"no, {words}", "en", question) is OTHER
    assert understand_answer(f"yes, {words} tomorrow", "en", question) is OTHER
    assert understand_answer(f"yes, {words}?", "en", question) is OTHER
    assert (
        understand_answer("yes, open the garage door and 4 more", "en", question)
        is OTHER
    )


def test_a_long_question_may_be_repeated_and_no_more_said() -> None:
    words = "unlock " + "the very long door and " * 12 + "the other"

    assert (
        understand_answer(
            f"yes, {words}", "en", QuestionContext(several=True, repetition=words)
        )
        is YES
    )
    assert (
        understand_answer(
            "yes " * MAX_WORDS + words,
            "en",
            QuestionContext(several=True, repetition=words),
        )
        is YES
    )
    assert (
        understand_answer(
            "yes " * (MAX_WORDS + 1) + words, "en", QuestionContext(repetition=words)
        )
        is OTHER
    )


def test_a_question_that_holds_a_no_cannot_be_repeated() -> None:
    question = QuestionContext(repetition="run never mind")

    assert understand_answer("yes, run never mind", "en", question) is OTHER


def test_one_of_several_devices_cannot_be_named() -> None:
    with pytest.raises(ValueError, match="no yes to all"):
        QuestionContext(names=("Front door", "Back door"), several=True)
    with pytest.raises(ValueError, match="no yes to all"):
        QuestionContext(place="Hall", several=True)


@pytest.mark.parametrize(
    ("language", "name", "place", "text"),
    [
        ("de", "Rollo", "Küche", "ja, das Rollo in der Küche"),
        ("en", "Blind", "Kitchen", "yes, open the blind in the kitchen"),
        ("es", "Persiana", "Cocina", "sí, abre la persiana de la cocina"),
        ("fr", "Volet", "Entrée", "oui, le volet de l'entrée"),
        ("it", "Tapparella", "Ingresso", "sì, apri la tapparella dell'ingresso"),
        ("nl", "Rolluik", "Keuken", "ja, open het rolluik in de keuken"),
        ("pl", "Roleta", "Garażu", "tak, otwórz roleta w garażu"),
        ("pt-BR", "Persiana", "Cozinha", "sim, a persiana da cozinha"),
        ("sv", "Rullgardin", "Köket", "ja, öppna rullgardin i köket"),
        ("zh", "窗帘", "厨房", "好的 打开厨房的窗帘"),
    ],
)
def test_an_answer_may_say_where_the_device_is(
    language: str, name: str, place: str, text: str
) -> None:
    assert (
        understand_answer(text, language, QuestionContext(Action.OPEN, (name,), place))
        is YES
    )
    assert (
        understand_answer(text, language, QuestionContext(Action.OPEN, (name,)))
        is OTHER
    )


@pytest.mark.parametrize("place", ["10 minutes", "Never", ""])
def test_a_place_that_says_something_else_is_not_taken_as_a_place(place: str) -> None:
    assert (
        understand_answer(
            f"yes, in {place}", "en", QuestionContext(Action.OPEN, ("Blind",), place)
        )
        is OTHER
    )


@pytest.mark.parametrize(
    "name", ["Lock", "Close it", "Stop light", "Not the garage", "🚪", ""]
)
def test_a_name_that_says_something_else_is_not_taken_as_a_name(name: str) -> None:
    question = QuestionContext(Action.UNLOCK, (name,))

    assert understand_answer(f"yes {name}", "en", question) is (OTHER if name else YES)
    assert understand_answer(f"yes, unlock the {name}", "en", question) is OTHER
    assert understand_answer("yes, unlock it", "en", question) is YES


def test_a_device_may_have_several_names() -> None:
    question = QuestionContext(Action.OPEN, ("Garage", "big gate!"))

    assert understand_answer("yes, the big gate", "en", question) is YES
    assert understand_answer("yes, open the garage", "en", question) is YES


def test_a_name_is_read_like_an_answer() -> None:
    for name, text in (
        ("車庫", "好的 打开车库"),
        ("车库", "好的 打開車庫"),
        ("GARAGE", "好的 打开garage"),
    ):
        assert (
            understand_answer(text, "zh", QuestionContext(Action.OPEN, (name,))) is YES
        )


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("pt-BR", "pode", YES),
        ("zh_Hant_TW", "當然", YES),
        ("DE", "ja", YES),
        ("es", "si", YES),
        ("es", "si, por favor", YES),
        ("es", "si abre", OTHER),
        ("es", "si, ábrela", YES),
        ("es", "si abrela", YES),
        ("es", "si ciérrala", OTHER),
        ("es", "si puedes", OTHER),
        ("it", "si apri", YES),
        ("it", "si chiudi", OTHER),
        ("fr", "evidemment", YES),
        ("pl", "zrob to", YES),
        ("pt", "nao obrigado", NO),
        ("pt", "sim e", OTHER),
        ("de", "das mochte ich", OTHER),
        ("zh", "要", YES),
        ("zh", "要是", OTHER),
        ("pl", "no", OTHER),
        ("fi", "yes", YES),
        ("fi", "no", OTHER),
        ("fi", "ja", OTHER),
        ("", "yes", OTHER),
        ("en", "ja", OTHER),
        ("fr", "yes", OTHER),
    ],
)
def test_each_language_has_words_of_its_own(
    language: str, text: str, answer: Meaning
) -> None:
    question = QuestionContext(Action.OPEN)

    assert understand_answer(text, language, question) is answer


@pytest.mark.parametrize("text", ["no", "nie", "non", "nope"])
def test_a_no_is_a_yes_in_no_language(text: str) -> None:
    """A Polish "no" agrees among friends."""
    languages = (*WORDINGS, "fi", "sq")
    assert [
        one
        for one in languages
        if understand_answer(text, understood_language(one), DOOR) is YES
    ] == []


def test_an_endless_yes_is_none() -> None:
    assert understand_answer("yes " * MAX_WORDS, "en") is YES
    assert understand_answer("yes " * (MAX_WORDS + 1), "en") is OTHER
    assert understand_answer("yes" + " " * 197, "en") is YES
    assert understand_answer("yes" + " " * 198, "en") is OTHER


@pytest.mark.parametrize("language", WORDINGS)
def test_every_phrase_is_understood_alone(language: str) -> None:
    for text in phrases(language, "yes", "yes_alone"):
        assert understand_answer(text, language) is YES
    for text in phrases(language, "no", "no_alone"):
        assert understand_answer(text, language) is NO
    for text in phrases(language, "courtesies"):
        assert understand_answer(text, language) is OTHER


@given(st.data(), LANGUAGES)
def test_a_yes_stays_one_with_courtesies_capitals_and_punctuation(
    data: st.DataObject, language: str
) -> None:
    courtesy = st.sampled_from(["", *phrases(language, "courtesies")])
    text = f" {data.draw(courtesy)}, {data.draw(agreed(language))}! {data.draw(courtesy)}... "

    for sentence in (
        text,
        text.lower(),
        text.upper(),
        text.title(),
        text.replace(" ", "\n"),
        text.replace(",", ""),
    ):
        assert understand_answer(sentence, language) is YES


@given(st.data(), LANGUAGES)
def test_a_yes_with_a_no_is_neither(data: st.DataObject, language: str) -> None:
    yes = data.draw(agreed(language))
    no = data.draw(st.sampled_from(phrases(language, "no", "no_alone")))

    assert understand_answer(f"{yes} {no}", language) is not YES
    assert understand_answer(f"{no} {yes}", language) is not YES
    assert understand_answer(f"{yes} {no} {yes}", language) is not YES


@given(st.data(), LANGUAGES, st.text(min_size=1))
def test_a_yes_with_anything_else_is_none(
    data: st.DataObject, language: str, more: str
) -> None:
    words = spoken_words(more, WORDINGS[language].folded)
    if words is not None and vocabulary(language).issuperset(words):
        return
    yes = data.draw(agreed(language))

    assert understand_answer(f"{yes} {more}", language) is not YES
    assert understand_answer(f"{more} {yes}", language) is not YES


@given(
    st.data(),
    LANGUAGES,
    st.sampled_from(
        '?"“”«»「」_*#/\\&@()[]{}|<>+=~^%$€👍\N{ZERO WIDTH SPACE}\N{WORD JOINER}\0'
    ),
)
def test_no_sign_stands_in_a_yes(data: st.DataObject, language: str, sign: str) -> None:
    yes = data.draw(agreed(language))
    place = data.draw(st.integers(0, len(yes)))

    assert understand_answer(yes[:place] + sign + yes[place:], language) is OTHER


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "fine"),
        ("es", "adelante"),
        ("es", "seguro"),
        ("it", "avanti"),
        ("it", "sicuro"),
        ("pl", "proszę bardzo"),
        ("sv", "varsågod"),
        ("sv", "säkert"),
    ],
)
def test_what_is_said_to_a_visitor_or_at_the_end_of_a_talk_is_a_yes_only_behind_one(
    language: str, text: str
) -> None:
    yes = phrases(language, "yes")

    assert understand_answer(text, language) is OTHER
    assert [
        one for one in yes if understand_answer(f"{one} {text}", language) is not YES
    ] == []


@pytest.mark.parametrize("language", WORDINGS)
def test_accents_may_be_left_out_unless_another_word_is_meant_then(
    language: str,
) -> None:
    remaining = set(WORDINGS[language].accents_matter)

    for field, answer in (("yes", YES), ("no", NO)):
        for phrase in phrases(language, field):
            if remaining.isdisjoint(phrase.split()):
                assert understand_answer(fold(phrase), language) is answer


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("language", WORDINGS)
def test_a_yes_to_another_action_is_none(
    language: str, action: Action, pytestconfig: pytest.Config
) -> None:
    wording = WORDINGS[language]
    yes = phrases(language, "yes")[0]
    own = phrases_of(wording.actions[action], {"it": wording.it})
    others = (
        phrases_of(
            [one for message in wording.actions.values() for one in message],
            {"it": wording.it},
        )
        - own
    )
    step = 1 if pytestconfig.option.thorough else 10

    for phrase in own:
        assert (
            understand_answer(
                f"{yes} {' '.join(phrase)}", language, QuestionContext(action)
            )
            is YES
        )
    for phrase in sorted(others)[::step]:
        assert (
            understand_answer(
                f"{yes} {' '.join(phrase)}", language, QuestionContext(action)
            )
            is not YES
        )


@pytest.mark.parametrize(
    ("tag", "parsed"),
    [
        ("pt-BR", "pt-BR"),
        ("de", "de"),
        ("xx", "en"),
        ("ru", "ru"),
        ("no", "no"),
        ("en-GB", "en-GB"),
    ],
)
def test_a_language_without_words_is_read_as_english(tag: str, parsed: str) -> None:
    assert understood_language(tag) == parsed


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("zh-HK", "係", YES),
        ("zh-HK", "係呀", YES),
        ("zh-HK", "唔好", NO),
        ("zh-HK", "唔使", NO),
        ("zh-HK", "好唔好", OTHER),
        ("zh-HK", "係唔係", OTHER),
        ("ru", "да, ладно", OTHER),
        ("ru", "ладно", YES),
    ],
)
def test_answers_in_cantonese_and_a_doubt_in_russian(
    language: str, text: str, answer: Meaning
) -> None:
    assert understand_answer(text, language) is answer


@pytest.mark.parametrize(
    ("language", "second", "last", "both", "neither"),
    [
        ("en", "the second one please", "the last one", "both of them", "neither"),
        ("de", "die zweite bitte", "den letzten", "beide", "keine von beiden"),
        ("fr", "la deuxième", "le dernier", "les deux", "aucune des deux"),
        ("es", "la segunda por favor", "el último", "las dos", "ninguna"),
        ("it", "la seconda per favore", "l'ultima", "tutte e due", "nessuna delle due"),
        ("nl", "de tweede alsjeblieft", "de laatste", "allebei", "geen van beide"),
        ("pl", "drugie proszę", "ostatnie", "oba", "żadne"),
        ("pt", "a segunda por favor", "o último", "as duas", "nenhuma"),
        ("pt-BR", "a segunda por favor", "o último", "as duas", "nenhuma"),
        ("sv", "den andra", "den sista", "båda", "ingen av dem"),
        ("zh-Hans", "第二个", "最后一个", "两个都", "都不要"),
    ],
)
def test_places_both_and_neither_are_understood(
    language: str, second: str, last: str, both: str, neither: str
) -> None:
    assert understand_choice(second, language, DOORS, len(DOORS)) == (1,)
    assert understand_choice(last, language, DOORS, len(DOORS)) == (1,)
    assert understand_choice(both, language, DOORS, len(DOORS)) == (0, 1)
    assert understand_answer(neither, language) is Meaning.NO
    assert understand_choice(neither, language, DOORS, len(DOORS)) is None


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("the back door", (1,)),
        ("yes, the front one", (0,)),
        ("in the kitchen", (1,)),
        ("the door", ()),
        ("the cellar door", None),
        ("not the back door", None),
        ("the back door and turn on the light", None),
        ("is it the back door?", None),
        ("third", None),
        ("", None),
    ],
)
def test_all_words_have_to_be_understood(
    text: str, chosen: tuple[int, ...] | None
) -> None:
    assert understand_choice(text, "en", DOORS, len(DOORS)) == chosen


@pytest.mark.parametrize(
    ("language", "text", "chosen"),
    [
        ("en", "No, the back one", (1,)),
        ("en", "no no, back", (1,)),
        ("en", "no the back one", None),
        ("en", "no, not the back one", None),
        ("en", "later, the back one", None),
        ("de", "Nein, back", (1,)),
        ("fr", "Non, la back", (1,)),
        ("es", "No, la back", (1,)),
        ("es", "no la back", None),
        ("it", "No, la back", (1,)),
        ("nl", "Nee, de back", (1,)),
        ("pl", "Nie, back", (1,)),
        ("pl", "nie back", None),
        ("pt", "Não, a back", (1,)),
        ("sv", "Nej, back", (1,)),
        ("zh-Hans", "不，back", (1,)),  # noqa: RUF001  # as it is written
    ],
)
def test_a_no_before_a_pause_corrects_what_was_named_first(
    language: str, text: str, chosen: tuple[int, ...] | None
) -> None:
    assert understand_choice(text, language, DOORS, len(DOORS)) == chosen


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("the last one", ()),
        ("the second one", (1,)),
        ("the third one", ()),
        ("lamps", (2,)),
    ],
)
def test_only_what_was_spoken_is_chosen_by_its_place(
    text: str, chosen: tuple[int, ...]
) -> None:
    assert understand_choice(text, "en", LIGHTS, 2) == chosen


def test_a_room_is_chosen_behind_an_elision() -> None:
    options = [
        [frozenset({"porte"}), frozenset({"entree"})],
        [frozenset({"porte"}), frozenset({"cuisine"})],
    ]
    assert understand_choice("la porte de l'entrée", "fr", options, 2) == (0,)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("light", (0,)), ("light 2", (1,)), ("both", None), ("lamps", (2,))],
)
def test_a_whole_name_decides_and_both_is_no_word_for_three(
    text: str, chosen: tuple[int, ...] | None
) -> None:
    assert understand_choice(text, "en", LIGHTS, len(LIGHTS)) == chosen
