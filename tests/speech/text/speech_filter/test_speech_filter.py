"""A voice says what an answer means, and none of how it was written, however the answer arrives."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.speech.text import SpeechFilter, speakable
from tests.speech.text.markdown_texts import cut, markdown, marks

LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "zh"]
RECORDED = Path(__file__).parents[3] / "fixtures" / "recorded-runs" / "hard-cases.jsonl"


def in_pieces(
    pieces: list[str], language: str = "en", tools: tuple[str, ...] = ()
) -> str:
    speech = SpeechFilter(language, tools)
    return "".join([*(speech.feed(piece) for piece in pieces), speech.finish()])


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        # names of tools
        ("I called `intent__HassTurnOn` for it.", "I called turn on for it."),
        (
            "Use the HassTurnOff tool, or todo__get_items.",
            "Use the turn off tool, or get items.",
        ),
        ("See **GetLiveContext**: it is off.", "See get live context: it is off."),
        ("Hass is short, Hassle is long, GetLiveContexts is none.",) * 2,
        # an answer that is a JSON object
        ('{"answer": "It is **on**."}', "It is on."),
        (' {"response": "It is noon.", "action": null, "sure": true}\n', "It is noon."),
        (
            '{"to_say": "It is on.", "service": "light.turn_on"}',
            '"to_say": "It is on.", "service": "light turn on"',
        ),
        ('{"say": "It is on.", "data": {"a": 1}}', '"say": "It is on.", "data":"a": 1'),
        ('{"to_say": "It is on.", "cut', '"to_say": "It is on.", "cut'),
        ("{x} is unknown.", "x is unknown."),
        # the sources of a search
        ("It rains ([bbc.com](https://bbc.com?utm_source=a)). Bye.", "It rains. Bye."),
        (
            "It won ([a.de](https://a.de/x_(y)), [b-c.org](https://b.org); [d.uk](http://d.uk)[e](http://e)). Bye.",
            "It won. Bye.",
        ),
        (
            f"It won ([a.de](https://a.de/{'x' * 300}), [b.org](https://b.org/{'y' * 300})). Bye.",
            "It won. Bye.",
        ),
        ("It won [[1]](https://a.de). Bye.[2](https://b.org)", "It won. Bye."),
        ("It won【1†source】, and lost【12†L3-L5】【2†L1】.", "It won, and lost."),
        ("It won ([a.de](https://a.de), too).", "It won (a.de, too)."),
        ("It won ([a.de](https://a.de),", "It won (a.de,"),
        (
            "It won ([a.de](https://a.de),\n[b.org](https://b.org)).",
            "It won (a.de, b.org).",
        ),
        ("She wrote 【see below】.", "She wrote 【see below】."),
        ("See ([the manual](https://a.b)).", "See (the manual)."),
        ("{" + "a " * 1000 + "}", "a " * 999 + "a"),
        # emphasis and code
        ("It is **on** and *bright*.", "It is on and bright."),
        ("It is __on__, _bright_ and ***loud***.", "It is on, bright and loud."),
        ("**Two words** and *three more words*.", "Two words and three more words."),
        ("**Küche**nlicht: *an*.", "Küchenlicht: an."),
        ("~~Off~~ on, for ~5 minutes.", "Off on, for ~5 minutes."),
        ("`light.kitchen` is ``on``.", "light kitchen is on."),
        ("So:\n```python\nprint('x')\n```\nDone.", "So: Done."),
        ("So: ```x = 1``` and ```y``` done.", "So: and y done."),
        ("~~~\ncode\n~~~\nDone.", "Done."),
        ("Look: ```code goes on", "Look:"),
        ("`unclosed and *open", "unclosed and open"),
        # what looks like it and is none
        (
            "2 * 3 = 6, 2*3 = 6, (1+2)*(3) and 2**3.",
            "2 * 3 = 6, 2*3 = 6, (1+2)*(3) and 2**3.",
        ),
        ("5 * \n6", "5: 6"),
        ("5 *", "5"),
        ("5 *灯*", "5 灯"),
        ("a * b", "a * b"),
        (
            "snake_case and light.living_room_lamp",
            "snake_case and light living room lamp",
        ),
        ("3 < 5 and 5 > 3, a<5", "3 < 5 and 5 > 3, a<5"),
        ("R&D at AT&T; Q&A", "R&D at AT&T; Q&A"),
        (
            "#1 of 10 - well-known \u2013 yes — so",
            "#1 of 10 - well-known \u2013 yes — so",
        ),
        ("It's 10:30\u201311:00, don't worry.", "It's 10:30\u201311:00, don't worry."),
        # lines
        ("# Weather\nIt is sunny", "Weather. It is sunny"),
        ("## Weather ##\nSunny.", "Weather. Sunny."),
        ("##Weather\n#sunny", "Weather. #sunny"),
        ("Weather\n=======\nSunny\n---\nAnd dry.", "Weather. Sunny. And dry."),
        (
            "Today:\n- Team meeting\n- Lunch with Liza!\n- Gym",
            "Today: Team meeting. Lunch with Liza! Gym",
        ),
        (
            "* one\n+ two\n• three\n•four\n\u2013 five\n▪six\n  - seven",
            "one. two. three. four. five. six. seven",
        ),
        ("1. One\n2. Two\n3) Three", "1: One. 2: Two. 3) Three"),
        ("- - deep\n- > quoted", "deep. quoted"),
        ("- [x] Milk\n- [ ] Bread", "Milk. Bread"),
        ("> One\n> two.\n>three", "One two. three"),
        (
            "A line that\nwraps. And one\nThat does not",
            "A line that wraps. And one. That does not",
        ),
        ("One\n\ntwo", "One. two"),
        ("One,\n\ntwo;\nThree: \nFour.\nFive", "One, two; Three: Four. Five"),
        (
            'He said "yes"\nShe left (late)\nThe end',
            'He said "yes". She left (late). The end',
        ),
        ("3. April ist ein Montag.", "3: April ist ein Montag."),
        ("\n\n  \nOn.\r\nOff.", "On. Off."),
        # tables
        (
            "| Room | Temp |\n|:-----|-----:|\n| Kitchen | 21 °C |\n| Bath | 19 °C |\n\nDone.",
            "Room, Temperature. Kitchen, 21 degrees Celsius. Bath, 19 degrees Celsius. Done.",
        ),
        (
            "Room | Temp\n--- | ---\nKitchen | 21\n| Bath | -- |",
            "Room, Temperature. Kitchen, 21. Bath",
        ),
        ("|a|b|\n|-|-|\n|1.|2|", "a, b. 1: 2"),
        ("20 → 22 °C, a -> b => c • d", "20, 22 degrees Celsius, a, b, c, d"),
        # links
        ("See [the docs](https://example.org/a_(b)).", "See the docs."),
        (
            'See [docs](/local) and [ref][1] or [this](https://x.org "The title"), ok?',
            "See docs and ref or this, ok?",
        ),
        ("[unclosed](https://x\nNext", "unclosed. Next"),
        ("![A chart](chart.png) ![](x.png) here", "A chart here"),
        ("As said[1], so[^2] [sic] array[0]", "As said, so sic array"),
        (
            "It is sunny [1, 2]. It stays dry[1, 2, 13], they say [3].",
            "It is sunny. It stays dry, they say.",
        ),
        ("It is sunny. [3] It stays dry [4]", "It is sunny. It stays dry"),
        ("From [0, 100] on\n[1] One", "From 0, 100 on. 1 One"),
        (
            "See https://x.org/a?b=c. Or www.x.org/! Or <https://x.org>, or mailto:a@x.org",
            "See a link. Or a link! Or a link, or a link",
        ),
        (
            "(https://x.org) mail a@x.org, go to x.org",
            "(a link) mail a@x.org, go to x.org",
        ),
        ("[https://x.org](https://x.org)", "a link"),
        ("see:https://x.org seehttps://x.org", "see:a link see a link"),
        ("https://x.org/" + "x" * 300 + ". Next.", "a link. Next."),
        ("[Docs](https://x.org/" + "x" * 300 + ") next.", "Docs next."),
        ("Hash " + "0a" * 150 + ", done.", "Hash, done."),
        # emoji
        ("Done 🎉! Great 👍🏽 👨‍👩‍👧 (yes ❤️).", "Done! Great (yes)."),
        ("1️⃣ One ☀️ 🇩🇪 ✅\nTwo ★", "1 One. Two"),
        ("🎉 Done", "Done"),
        ("Hi :-) there ;) I <3 you :D.", "Hi there I you."),
        ("A:) b: (c) d=(e)", "A:) b: (c) d=(e)"),
        ("soft\u00adhy\u200bphen\ufeff", "softhyphen"),
        # HTML
        (
            "<b>On</b> &amp; <i class='x y'>off</i><br/>Next<p>Last</p>",
            "On & off. Next. Last",
        ),
        ("Off is &quot;TV&quot; and &#39;Hi-Fi&#39;.", "Off is \"TV\" and 'Hi-Fi'."),
        (
            "21&nbsp;&deg;C &lt; 30&#8451; &unknown; &amp;amp; &#x41;",
            "21 degrees Celsius < 30 degrees Celsius &unknown; & A",
        ),
        ('<a href="https://x.org"\ntarget="x">Here', 'target="x">Here'),
        (
            'Go <a href="https://x.org" class="b">here</a>, <img src="x"/>ok',
            "Go here, ok",
        ),
        ("if a <b then c, a <b\nnext <c", "if a <b then c, a <b next <c"),
        ("One <!-- a hidden <b> note --> two <!--x--> three <!-- end", "One two three"),
        ("One <!-- hidden\nfrom all --> two", "One two"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "1, 2"),
        # escapes
        (
            r"\*not bold\* snake\_case 1\. C:\Users \# \\ x",
            "not bold snake_case 1. C:\\Users # x",
        ),
        ("", ""),
        ("  \n\t ", ""),
    ],
)
def test_what_is_said(text: str, spoken: str) -> None:
    assert speakable(text, "en") == spoken
    assert in_pieces(list(text)) == spoken
    assert speakable(spoken, "en") == spoken


PROSE = {
    "en": "It's 21.5 % in the kitchen, 50 % humidity, wind from the west; that's 5 €. Shall I turn it on at 7:30 PM?",
    "de": "Im Wohnzimmer sind es 21,5 % \u2013 schön warm! „Alles aus“, auch um 7:30 Uhr, kostet 5 €.",
    "fr": "Il fait 21,5 % dans la cuisine ; c'est « bien » ! Voulez-vous l'éteindre à 7:30 ?",
    "es": "¿Quieres que apague la luz del salón? ¡Son 21,5 % y un 50 % de humedad!",
    "it": "In cucina ci sono 21,5 %, c'è un po' di vento: 12:30. Vuoi che l'accenda?",
    "nl": "In de keuken is het 21,5 %; 's avonds om 7.30 uur gaat het licht uit.",
    "pt": "Na cozinha estão 21,5 %, com 50 % de umidade — quer que eu apague a luz às 7h30?",
    "pl": "W kuchni jest 21,5 %, o 12:30. Czy mam wyłączyć światło o 7:30?",
    "sv": "I köket är det 21,5 % och 50 % luftfuktighet. Ska jag släcka klockan 7.30?",
    "zh": "厨房的灯已经打开了,现在是21.5 %。要我在7:30关掉吗?",
}


def test_a_list_of_sources_without_an_end_is_said_in_time() -> None:
    links = "[a.de](https://a.de/page), " * 20_000
    speech = SpeechFilter("en")

    assert speech.feed(f"It won ({links}").startswith("It won (a.de, a.de")


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_prose_is_said_as_it_is(language: str) -> None:
    prose = PROSE[language]

    assert speakable(prose, language) == prose
    assert in_pieces(list(prose), language) == prose


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_prose_is_held_back_by_one_word_at_most(language: str) -> None:
    speech, fed, spoken_words = SpeechFilter(language), "", ""
    for character in PROSE[language]:
        fed += character
        spoken_words += speech.feed(character)
        assert fed.startswith(spoken_words)
        assert " " not in fed[len(spoken_words) :].strip()
        if language == "zh" and not character.isascii() and character != "°":
            assert spoken_words == fed


@pytest.mark.parametrize(
    ("language", "link"),
    [
        *[
            ("en", "a link"),
            ("de-DE", "ein Link"),
            ("fr_CA", "un lien"),
            ("es", "un enlace"),
            ("it", "un link"),
        ],
        *[
            ("nl", "een link"),
            ("pt-BR", "um link"),
            ("pl", "link"),
            ("sv", "en länk"),
            ("zh-Hans", "一个链接"),
            ("xx", ""),
        ],
    ],
)
def test_an_address_is_called_a_link_in_the_language_of_the_answer(
    language: str, link: str
) -> None:
    assert speakable("1 https://x.org/a?b 2", language) == " ".join(
        ["1", *link.split(), "2"]
    )


@pytest.mark.parametrize("language", [*LANGUAGES, "xx"])
def test_an_answer_of_which_nothing_can_be_said_is_not_silent(language: str) -> None:
    okay, unreadable = speakable("👍", language), speakable("```\ncode\n```", language)

    assert okay != unreadable
    for spoken_words in (okay, unreadable):
        assert spoken_words[-1] in ".。"
        assert speakable(spoken_words, language) == spoken_words
    assert speakable("x" * 201, language) == unreadable


@pytest.mark.parametrize(
    ("text", "spoken_words"),
    [("…", "… Okay."), ("()", "() Okay."), ("- !", "! Okay."), ("?\n", "? Okay.")],
)
def test_punctuation_alone_cannot_be_heard(text: str, spoken_words: str) -> None:
    assert speakable(text, "en") == spoken_words
    assert speakable(f"{text} 7", "en").endswith(" 7")


def test_of_what_is_too_long_for_a_word_nothing_is_kept() -> None:
    address = "https://x.org/" + "a" * 1000

    assert (
        in_pieces(
            ["At ", address[:250], address[250:700], address[700:] + "! Next", "."]
        )
        == "At a link! Next."
    )


def test_each_language_has_words_of_its_own() -> None:
    sentences = [speakable("```\ncode\n```", language) for language in LANGUAGES]

    assert len({*sentences}) == len(LANGUAGES)
    assert speakable("```\ncode\n```", "xx") == sentences[0]


def test_chinese_sentences_end_the_chinese_way() -> None:
    text = "# 天气\n今天**晴天**\n- 厨房 | 浴室\n- 21度。\n好的,\n再见 Wi-Fi\n灯"

    assert speakable(
        text, "zh"
    ) == "天气。今天晴天。厨房,浴室。21度。好的, 再见 Wi-Fi. 灯".replace(
        ",浴", "\uff0c浴"
    )


TOOLS = (
    "intent__HassTurnOn",
    "homeassistant__GetLiveContext",
    "todo__get_items",
    "light_turn_on",
    "search",
)


@pytest.mark.parametrize(
    ("text", "spoken_words"),
    [
        *(
            (f"I used {name}.", "I used turn on.")
            for name in ("hass_turn_on", "intent_HassTurnOn", "HASS_TURN_ON")
        ),
        *(
            (f"I used {name}.", "I used turn on.")
            for name in ("`turn_on`", "hassTurnOn", "TurnOn", "HassTurnOn()")
        ),
        ('I use HassTurnOn(name="Kitchen Light", area="x") now.', "I use turn on now."),
        (
            "todo_get_items, get_live_context or lightTurnOn",
            "get items, get live context or light turn on",
        ),
        (
            "Turn on: search (all), snake_case, Hassle.",
            "Turn on: search (all), snake_case, Hassle.",
        ),
        ("See [turn](https://x.org/turn_on) on.", "See turn on."),
    ],
)
def test_a_name_of_a_tool_is_not_said_in_any_spelling(
    text: str, spoken_words: str
) -> None:
    assert (
        in_pieces([text], tools=TOOLS)
        == in_pieces([*text], tools=TOOLS)
        == spoken_words
    )


@given(st.data())
def test_no_cut_makes_a_difference(data: st.DataObject) -> None:
    text = data.draw(markdown() | marks())

    assert in_pieces(data.draw(cut(text))) == speakable(text, "en")


@given(markdown(), st.sampled_from(LANGUAGES))
def test_what_is_said_can_be_said_again(text: str, language: str) -> None:
    spoken_words = speakable(text, language)

    assert speakable(spoken_words, language) == spoken_words


@given(markdown())
def test_no_markup_is_said(text: str) -> None:
    spoken_words = speakable(text, "en")

    assert not re.search(
        r"\*\*|__|~~|`|\]\(|https?:|www\.|</?[abi]\b|<br|&\w+;|\n|😀|👍|✅|\u200d|\ufe0f",
        spoken_words,
    )
    assert spoken_words == spoken_words.strip()
    assert "  " not in spoken_words


def test_the_recorded_answers_are_said_without_markdown() -> None:
    runs = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    answers = [run["resp"] for run in runs if run["why"] == "markdown"]
    assert len(answers) == 40

    for answer in answers:
        spoken_words = speakable(answer, "en")
        assert not re.search(r"[*`#_\n]|^- ", spoken_words), spoken_words
        letters = re.sub(
            r"[\W_]+", "", answer.replace("°C", "degrees Celsius").replace("w/", "with")
        )
        assert re.sub(r"[\W_]+", "", spoken_words) == letters
