"""The few words that a voice says in place of what cannot be said, by language.

Knows languages; nothing of what was said.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is said instead, in one language."""

    link: str
    """In place of an address; empty to leave it out."""
    unreadable: str
    """When all that was written is code, tables or addresses."""
    okay: str
    """When all that was written is an emoji, or has no words."""
    yes: str
    """In place of a tick that is a value, as in "Window closed: ✅"."""
    no: str
    """In place of a cross; both are empty to leave them out."""


_PHRASES: Final = {
    "de": Phrases("ein Link", "Ich habe eine Antwort, aber sie lässt sich nicht vorlesen.", "Okay.", "ja", "nein"),
    "en": Phrases("a link", "I have an answer, but it cannot be read aloud.", "Okay.", "yes", "no"),
    "es": Phrases("un enlace", "Tengo una respuesta, pero no se puede leer en voz alta.", "De acuerdo.", "sí", "no"),
    "fr": Phrases(
        "un lien", "J'ai une réponse, mais elle ne peut pas être lue à voix haute.", "D'accord.", "oui", "non"
    ),
    "it": Phrases("un link", "Ho una risposta, ma non si può leggere ad alta voce.", "Va bene.", "sì", "no"),
    "nl": Phrases("een link", "Ik heb een antwoord, maar dat kan niet worden voorgelezen.", "Oké.", "ja", "nee"),
    "pl": Phrases("link", "Mam odpowiedź, ale nie da się jej przeczytać na głos.", "Dobrze.", "tak", "nie"),
    "pt": Phrases("um link", "Tenho uma resposta, mas ela não pode ser lida em voz alta.", "Certo.", "sim", "não"),
    "sv": Phrases("en länk", "Jag har ett svar, men det går inte att läsa upp.", "Okej.", "ja", "nej"),
    "zh": Phrases("一个链接", "我有答案，但没法读出来。", "好的。", "是", "否"),  # noqa: RUF001  # Chinese punctuation
}
_OTHERWISE: Final = Phrases("", _PHRASES["en"].unreadable, _PHRASES["en"].okay, "", "")


def phrases(language: str) -> Phrases:
    """Return the words of a language, given as a BCP 47 tag; sentences of others are in English."""
    return _PHRASES.get(primary(language), _OTHERWISE)


def primary(language: str) -> str:
    """Return the language of a BCP 47 tag, without script and region."""
    return language.replace("_", "-").partition("-")[0].casefold()
