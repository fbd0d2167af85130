"""Decides whether an answer ends with a question to the person, so that a satellite keeps listening."""

import re
from typing import Final

from ..text import base_language
from .speech_filter import speakable

_QUESTION_MARKS: Final = "?\uff1f؟\u037e՞፧⁇⁈⁉‽"
_SEMICOLON_LANGUAGES: Final = frozenset({"el"})
"""Languages in which a question ends with a semicolon."""
_MAY_ASK: Final = re.compile(f"[{_QUESTION_MARKS};&]")
"""In HTML a question mark may be written as `&quest;`."""
_OTHER_MARKS: Final = ".!…。\uff01।॥"
_CLOSERS: Final = " \t\n\"'”\u2019»)]}」』\uff09】"
_NEXT_SENTENCE: Final = re.compile(
    rf"(?:[{_QUESTION_MARKS}{_OTHER_MARKS};][{re.escape(_CLOSERS)}]*\s|[。\uff01\uff1f])(?=\S)"
)
_COURTESIES_AT_MOST: Final = 3
_WORDS_AT_MOST: Final = 40
_CHOICE: Final = re.compile("\\s*(?:[-*+•\u2013]|\\d{1,2}[.)])\\s")

_COURTESIES: Final = {
    "de": r"(bitte )?(sag|sagen sie|gib|geben sie|lass|lassen sie|melde?|melden sie|schreib)\b|(vielen )?dank|danke"
    r"|gern|ich (helfe|warte|freue)|kein(e)? (problem|eile)|nimm dir|ansonsten|sonst\b|bitte[.!]",
    "en": r"(please )?(just )?(let me know|tell me|say|ask|feel free|reply|answer)\b|(many )?thank|cheers|please[.!]"
    r"|i('m| am|'ll| will| can)( be)?( always)? (here|happy|glad|ready|wait|help)|(happy|glad) to|take your time"
    r"|no (rush|hurry|problem|worries)|whenever you|otherwise\b|sorry",
    "es": r"¡?((por favor,? )?(solo )?(d[ií]me|d[ií]game|av[ií]s[ae]me|h[aá]z?me?lo|h[aá]game(lo)?|h[aá]zme|d[ií]melo"
    r"|d[ií]gamelo|di|ind[ií](ca|que)me|d[eé]j[ae]me(lo)? saber)\b|(muchas )?gracias|(espero|quedo) (a|tu|su)\b"
    r"|estoy (aqu[ií]|a tu|a su|list)|no dude|sin prisa|no hay prisa|t[oó]mate tu|t[oó]mese su|si no\b|de lo contrario"
    r"|con (mucho )?gusto|por favor[.!])",
    "fr": r"(merci de |veuillez )?(simplement )?(dites|dis|faites|fais|indique|précise|tenez-moi|tiens-moi)|merci"
    r"|je (suis|reste) (là|ici|à)|je (vous |t')écoute|à (vous|toi) de|n'hésite|prenez votre temps|prends ton temps"
    r"|(pas de|aucun) (souci|problème)|sinon\b|il suffit|avec plaisir|s'il (vous|te) plaît[.!]",
    "it": r"(per favore,? )?(fammi|fammelo|facci|mi faccia|me lo faccia|dimmi|dimmelo|mi dica|me lo dica|basta|fai"
    r"|faccia)\b|(molte )?grazie|sono (qui|a (tua|sua))|resto|attendo|aspetto|non esita|altrimenti|se no\b|con calma"
    r"|prenditi|(non c'è )?(nessun(a)? )?(fretta|problema)|volentieri|per favore[.!]",
    "nl": r"(alstublieft |alsjeblieft |graag )?(laat (het )?(me|mij|maar|weten)|zeg (het )?(me|mij|maar|gerust)|vraag"
    r"|geef)\b|(graag|alsjeblieft|alstublieft)[.!]|(hartelijk )?(dank|bedankt)|ik (help|wacht|hoor|sta klaar|luister)"
    r"|geen (haast|probleem|zorgen)|anders\b|neem (gerust|de tijd)",
    "pl": r"(proszę,? )?(po prostu )?(daj|dajcie|powiedz|proszę|napisz|odpowiedz)\b|dzięk|chętnie|jestem (tu|gotow)"
    r"|wystarczy|bez pośpiechu|nie ma (sprawy|pośpiechu)|w przeciwnym|śmiało|czekam|jeśli nie\b",
    "pt": r"(por favor,? )?(basta|é só|só me|diz|diga|diz-me|me diga|avis[ae]|me avis[ae]|fal[ae]|me fal[ae])\b"
    r"|(muito )?obrigad|estou (aqui|à|pront)|sem (pressa|problema)|caso contrário|senão|se não\b"
    r"|fi(que|ca) à vontade|não hesite|por favor[.!]",
    "sv": r"(snälla )?(bara )?(säg|hör (gärna )?av|låt mig|meddela|berätta|fråga|svara)\b|tack|ingen brådska"
    r"|inga problem|annars\b|gärna|jag (hjälper|väntar|finns|är här)|ta din tid",
    "zh": r"(如果需要\uff0c?)?(请|[您你](可以|只要|只需)|只需|只要)?(直接)?(告诉|告知|跟我说|和我说|说一声|随时|吩咐"
    r"|直接|回复|回答)|(非常)?(谢谢|感谢)|没关系|不用?着急|我(很乐意|会等|在这|等|随时)|否则|不客气|尽管",
}
_COURTESY: Final = {language: re.compile(pattern) for language, pattern in _COURTESIES.items()}


def asks_back(text: str, language: str, spoken: str | None = None) -> bool:
    """Return True if an answer ends with a question, its choices, or a question and a courtesy ("Just let me know.").

    `language` is a BCP 47 tag; courtesies are known in ten languages. `spoken` is the result of `speakable`, if the
    caller has it.
    """
    if _MAY_ASK.search(text) is None:
        return False  # most answers
    marks = _marks(language)
    if spoken is None:
        spoken = speakable(text, language)
    return _ends_with_question(spoken, language, marks) or _ends_with_choices(text, language, marks)


def _marks(language: str) -> str:
    return _QUESTION_MARKS + (";" if base_language(language) in _SEMICOLON_LANGUAGES else "")


def _ends_with_question(spoken: str, language: str, marks: str) -> bool:
    spoken = spoken.rstrip(_CLOSERS)
    courtesy = _COURTESY.get(base_language(language))
    for _ in range(_COURTESIES_AT_MOST + 1):
        end = spoken[len(spoken.rstrip(_OTHER_MARKS + marks)) :]
        if any(mark in end for mark in marks):
            return True
        begin = max((found.end() for found in _NEXT_SENTENCE.finditer(spoken)), default=0)
        last = spoken[begin:].casefold().replace("\u2019", "'")
        if not begin or courtesy is None or not courtesy.match(last) or len(last.split()) > _WORDS_AT_MOST:
            return False
        spoken = spoken[:begin].rstrip(_CLOSERS)
    return False


def _ends_with_choices(text: str, language: str, marks: str) -> bool:
    """Return True if the text ends with a question and a list."""
    lines = [line for line in text.splitlines() if line.strip()]
    choices = 0
    while lines and _CHOICE.match(lines[-1]):
        lines.pop()
        choices += 1
    return bool(choices) and _ends_with_question(speakable("\n".join(lines), language), language, marks)
