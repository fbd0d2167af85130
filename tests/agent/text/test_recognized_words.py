"""Nobody meant sounds, hesitations, stutters and what recognizers write in silence; everything else stays as it is."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.text import heard_answer, heard_request


@pytest.mark.parametrize(
    ("language", "heard", "meant"),
    [
        ("en", "Turn on the floor lamp. Thank you.", "Turn on the floor lamp."),
        (
            "en",
            "Turn on the floor lamp. Thank you. Thanks for watching!",
            "Turn on the floor lamp.",
        ),
        ("en", "Turn on the floor lamp. you", "Turn on the floor lamp."),
        ("en", "Turn on the floor lamp. ...", "Turn on the floor lamp."),
        ("en", "[BLANK_AUDIO]", ""),
        ("en", "(music) *sighs* ♪ la la ♪", ""),
        ("en", "[Music] Turn it on. (upbeat music)", "Turn it on."),
        ("en", " . ", ""),
        ("en", "Subtitles by the Amara.org community", ""),
        ("en", "Um, turn on, uh, the floor lamp, um.", "turn on, the floor lamp"),
        ("en", "Add milk, um, eggs and, uh... bread, um.", "Add milk, eggs and, bread"),
        (
            "en",
            "Turn on the lamp. Um. Turn off the fan.",
            "Turn on the lamp. Turn off the fan.",
        ),
        ("en", "Turn on, turn on the floor lamp.", "turn on the floor lamp."),
        ("en", "Turn of the floor lamp.", "turn off the floor lamp."),
        ("en", "Turn on the T.V.", "Turn on the TV"),
        ("de", "Äh, mach das Licht an. Vielen Dank.", "mach das Licht an."),
        ("de", "Untertitelung des ZDF, 2020", ""),
        ("de", "[Musik] Licht an. Untertitel der Amara.org-Community", "Licht an."),
        ("es", "Enciende la luz. ¡Gracias por ver el video!", "Enciende la luz."),
        (
            "fr",
            "Euh, allume la lampe. Sous-titres réalisés par la communauté d'Amara.org",
            "allume la lampe.",
        ),
        ("fr", "Merci d\N{RIGHT SINGLE QUOTATION MARK}avoir regardé cette vidéo !", ""),
        (
            "it",
            "Accendi la luce. Sottotitoli creati dalla comunità Amara.org",
            "Accendi la luce.",
        ),
        (
            "nl",
            "Doe de lamp aan. Ondertitels ingediend door de Amara.org gemeenschap",
            "Doe de lamp aan.",
        ),
        ("pl", "Yyy, włącz lampę. Dziękuję za oglądanie.", "włącz lampę."),
        ("pt", "Acende a luz. Obrigado.", "Acende a luz."),
        ("pt-BR", "Ligue a luz. Legendas pela comunidade Amara.org", "Ligue a luz."),
        ("sv", "Tänd lampan. Tack.", "Tänd lampan."),
        ("zh-Hans", "嗯，打开灯。谢谢大家。", "打开灯。"),  # noqa: RUF001 - Chinese punctuation
        ("zh-Hans", "字幕由Amara.org社区提供", ""),
        ("ja", "電気をつけて。Thanks for watching!", "電気をつけて。"),
    ],
)
def test_what_nobody_meant_is_dropped(language: str, heard: str, meant: str) -> None:
    assert heard_request(heard, language) == meant


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", ""),
        ("en", "?"),
        ("en", "Thank you."),
        ("en", "What is amara.org?"),
        ("en", "Turn on thank you scene"),
        ("en", "Add thank you cards to the shopping list."),
        ("en", "Message Anna: I am late. Thank you."),
        ("en", "Translate into French. Thank you."),
        ("en", "Say 'I am late. Thank you.'"),
        ("de", "Übersetze ins Englische. Danke."),
        ("zh-Hans", "翻译成英语。谢谢。"),
        ("en", "Remind me um tomorrow"),
        ("en", "uh-huh"),
        ("en", "Turn on Lamp (music)."),
        ("en", "Add milk [2] and 2 * 3 * 4 eggs."),
        ("en", "What did Subtitles mean? Tell me more."),
        ("en", "Thank you. Turn on the floor lamp."),
        ("en", "Wake me at 7 a.m. tomorrow."),
        ("en", "play Play That Funky Song"),
        ("en", "It is 3. December"),
        ("en", "First line\n\nsecond line 👍"),
        ("de", "Weck mich um acht, um neun und um zehn."),
        ("de", "Danke"),
        ("pt", "um café"),
        ("zh-Hans", "谢谢"),
        ("xx", "Um, danke. Merci."),
    ],
)
def test_other_text_stays_as_it_is(language: str, text: str) -> None:
    assert heard_request(text, language) == text


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        ("Yes. Thanks for watching!", "Yes."),
        ("Yes, unlock the front door. Thank you.", "Yes, unlock the front door."),
        ("Um, yes", "Um, yes"),
        ("♪ no ♪ yes", "♪ no ♪ yes"),
        ("Yes. ♪ don't ♪", "Yes. ♪ don't ♪"),
        ("♪♪ Yes.", "Yes."),
        ("Thank you. Yes.", "Thank you. Yes."),
        ("Okay. Bye.", "Okay. Bye."),
    ],
)
def test_of_an_answer_only_the_end_is_dropped(heard: str, answer: str) -> None:
    assert heard_answer(heard, "en") == answer


@given(st.text(max_size=60), st.sampled_from(["en", "de", "zh-Hans", "xx"]))
def test_nothing_is_added(text: str, language: str) -> None:
    words = heard_request(text, language)

    assert len(words) <= len(text) + 1
    assert (
        heard_answer(text, language) in text
        or "[" in text
        or "*" in text
        or "(" in text
        or "♪" in text
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Yes. Thanks for watching but don't.", "en"),
        ("Yes. See you next time, not now.", "en"),
        ("Yes [no, silence the alarm first]", "en"),
        ("Tell Tamara, organize the party", "en"),
        ("See you next time, turn off all the lights", "en"),
        ("Untertitel von Netflix ausschalten", "de"),
        ("Legendas, por favor.", "pt"),
        ("Sous-titres pour la télé", "fr"),
    ],
)
def test_words_that_may_mean_something_are_no_noise(text: str, language: str) -> None:
    assert heard_answer(text, language) == heard_request(text, language) == text


def test_a_text_that_nobody_spoke_is_left_as_it_is() -> None:
    text = "Thank you. " * 1_000

    assert heard_answer(text, "en") == text
