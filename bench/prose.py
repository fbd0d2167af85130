"""Plain prose in every language that Chatterbox speaks: texts of which nothing has to be taken out or put in.

Knows the fixtures that hold such texts; must not know what is measured with them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from custom_components.chatterbox.speech.text import speakable
from tests.behaviour.recorded_runs.hard_cases import read_hard_cases
from tests.behaviour.recorded_runs.runs import RecordedMessage, read_runs

WITH_UNITS: Final[Mapping[str, str]] = {
    "en": "The kitchen is at 21.5 %, and it's 50 % humid. I've turned on the lights (all three), as you asked. "
    "Assistants are patient: a call is a call. Is there anything else? Then final words: good night!",
    "de": "In der Küche sind es 21,5 %, und die Luftfeuchte beträgt 50 %. Das Licht (alle drei Lampen) ist an. "
    "Der Wind kommt aus Westen. Soll ich um 7:30 Uhr wecken?",
    "fr": "Il fait 21,5 % dans la cuisine, avec 50 % d'humidité. J'ai allumé les lampes (toutes les trois). "
    "Voulez-vous que je les éteigne à 7:30 ?",
    "es": "En la cocina hay 21,5 % y un 50 % de humedad. He encendido las luces (las tres). ¿Quieres algo más?",
    "it": "In cucina ci sono 21,5 % e il 50 % di umidità. Ho acceso le luci (tutte e tre). Vuoi altro?",
    "nl": "In de keuken is het 21,5 % bij 50 % luchtvochtigheid. De lampen (alle drie) zijn aan. Nog iets?",
    "pt": "Na cozinha estão 21,5 % e 50 % de umidade. Acendi as luzes (as três). Quer mais alguma coisa?",
    "pl": "W kuchni jest 21,5 % i 50 % wilgotności. Światła (wszystkie trzy) są włączone. Coś jeszcze?",
    "sv": "I köket är det 21,5 % och 50 % luftfuktighet. Lamporna (alla tre) är tända. Något mer?",
    "zh": "厨房现在是21.5 %。三盏灯都已经打开了。明天早上7:30要叫醒您吗\uff1f",
}


@dataclass(frozen=True, slots=True)
class Prose:
    """Texts of one language."""

    name: str
    language: str
    texts: tuple[str, ...]


def read_prose() -> Iterator[Prose]:
    """Yield what was written in each language, then what models said in the recorded runs, all of them in English."""
    for language, written in sorted(WITH_UNITS.items()):
        yield Prose(language, language, _plain([written], language))
    yield _prose(
        "en, `assist-mini.jsonl`",
        (message for run in read_runs() for message in run.asst),
    )
    yield _prose(
        "en, `hard-cases.jsonl`",
        (message for case in read_hard_cases() for message in case.asst),
    )


def _prose(name: str, messages: Iterable[RecordedMessage]) -> Prose:
    return Prose(
        name,
        "en",
        _plain(((message.content or "").strip() for message in messages), "en"),
    )


def _plain(texts: Iterable[str], language: str) -> tuple[str, ...]:
    """Return the texts that are said just as they are written, each once."""
    return tuple(
        sorted({text for text in texts if text and speakable(text, language) == text})
    )
