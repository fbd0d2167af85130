"""Text normalization: folding, tokenizing, comparing and shortening text, recognized words, tags, names, ids of calls.

Everything that compares names or words uses these functions, so that a word is the same
word everywhere.

Of recognized words, those that nobody meant are dropped: sounds, hesitations, stutters,
and what recognizers write in silence. Whisper was trained with subtitles: it writes
"Thanks for watching!" or the credits of a translator where nothing is said, and
"[BLANK_AUDIO]" for sounds. Only whole sentences at the end go: "add thank you cards"
stays.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Final

from pydantic import BaseModel, TypeAdapter

from .messages import Attachment, ToolDefinition

ELLIPSIS: Final = "…"
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\N{IDEOGRAPHIC NUMBER ZERO}"
"""Chinese characters, for a character class of a regular expression."""

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
"""Of Latin, Greek and Cyrillic letters. In other scripts, a mark makes another letter."""
_LETTERS: Final = str.maketrans(
    {
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)
"""Letters that Unicode does not decompose."""
_DOTTED_I: Final = "i\N{COMBINING DOT ABOVE}"
"""The lower case of the Turkish capital, where accents are kept."""
_UNSPACED_RANGES: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED: Final = re.compile(f"[{_UNSPACED_RANGES}]")
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""
_UNSEEN: Final = "\u00ad\u061c\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff"
PART: Final = re.compile(
    rf"[{_UNSEEN}]*+[{_UNSPACED_RANGES}\uff66-\uff9f][{_UNSEEN}]*+|(?:[^\s'\u2019.,!?;:…{_UNSPACED_RANGES}\uff66-\uff9f]|[.,:](?=\w))++"
)
"""A word of any text or, in a script without spaces, a character: where a name may begin and end."""
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_MARKS: Final = "".join(
    char
    for char in map(chr, range(0x0590, 0x1800))
    if unicodedata.category(char)[0] == "M"
)
"""Vowels and tones of the scripts from Hebrew to Khmer, which are parts of their words."""
_LETTER: Final = rf"[^\W_{_UNSPACED_RANGES}][{_MARKS}]*"
_SPOKEN_WORD: Final = re.compile(
    rf"(?!\W)[{_UNSPACED_RANGES}][{_MARKS}]*|(?:{_LETTER})+(?:'(?:{_LETTER})+)*"
)
_PAUSES: Final = re.compile(
    r"[\s.,!;:…\-‐-—¡。，！、；：·・〜～،؛۔।॥՝։־\u200e\u200f\u061c]*"  # noqa: RUF001 - all scripts
)
"""Also the marks of direction, which stand beside Hebrew and Arabic words and are not heard."""
_UNREAD: Final = dict.fromkeys(
    (
        *range(0x0591, 0x05BE),
        0x05BF,
        0x05C1,
        0x05C2,
        0x0640,
        *range(0x064B, 0x0653),
    )
)
"""Vowels that Hebrew and Arabic may leave out, and the Arabic stroke that only widens a word."""
ELIDED: Final = r"(?<!\w)(?:[cdjlmnst]|(?:d?a|de|ne|co|su|be|que)ll|(?:jus|lors|puis)?qu|un|quest|tutt)(?='\w)"
"""An article or a preposition before a word, as in French, Italian and Portuguese."""
_ELIDED: Final = re.compile(rf"({ELIDED})'")
_APOSTROPHE: Final = str.maketrans(
    dict.fromkeys("\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}", "'")
)
_IN_WORDS: Final = _APOSTROPHE | _UNREAD
"""Characters of words that are written in other ways, too."""

_DIGIT: Final = re.compile(r"(?![0-9])\d")
_TOKEN: Final = re.compile(r"<\|\w+\|>")
"""A token of a chat template."""
_VARIANT: Final = re.compile("[\u034f\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Characters that choose a form of the one before."""


def compared(name: str) -> str:
    """Return a name in the form in which Home Assistant compares names."""
    return name.strip().casefold()


def compared_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return some names, each with the form in which Home Assistant compares it."""
    return {name: compared(name) for name in names}


def words_of_names(names: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return some names, each with its words in lower case."""
    return {
        name: frozenset([run for run, _ in runs(plain_name(name))]) for name in names
    }


def plain(text: str) -> str:
    """Return a text in lower case, one composition and width, without characters that are not seen."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFKC", text).casefold()
    visible = (
        char
        for char in composed
        if unicodedata.category(char) != "Cf" and not _VARIANT.match(char)
    )
    return unicodedata.normalize("NFKC", "".join(visible))


def plain_name(name: str) -> str:
    """Return a name as `plain` text, in one kind of digits and without what belongs to a model."""
    return " ".join(
        in_ascii_digits(plain(_TOKEN.sub("", name))).translate(_APOSTROPHE).split()
    )


def in_ascii_digits(text: str) -> str:
    """Return a text with the digits 0 to 9 in place of those of other scripts: "٤" is 4."""
    if text.isascii():
        return text
    return _DIGIT.sub(
        lambda digit: str(unicodedata.decimal(digit[0])),
        text,
    )


def find_name(
    name: str,
    names: Iterable[str],
) -> str | None:
    """Return the one of some names that a name means, in the surest form in which it equals any; None for several."""
    known = tuple(dict.fromkeys(names))
    for form in (str, plain_name, lambda one: fold(plain_name(one))):
        same = [one for one in known if form(one) == form(name)]
        if same:
            if len(same) == 1:
                return same[0]
            return None
    return None


def fold(
    text: str,
    *,
    keep_accents: bool = False,
) -> str:
    """Return a `plain` text without accents.

    With accents, compatibility forms and what is not seen are kept too: a fullwidth
    letter stays one.
    """
    if keep_accents:
        return (
            unicodedata.normalize("NFC", text)
            .casefold()
            .replace(
                _DOTTED_I,
                "i",
            )
        )
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize(
        "NFKD",
        plain(text).translate(_LETTERS),
    )
    return unicodedata.normalize(
        "NFC",
        _ACCENTS.sub("", letters),
    )


def runs(folded: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of letters, marks and digits of a folded text; True for a script without spaces.

    Other runs are words. Runs without spaces can only be divided by the caller, into
    characters or pairs of characters.
    """
    if folded.isascii():
        yield from ((word, False) for word in _ASCII_WORD.findall(folded))
        return
    for is_unspaced, characters in groupby(folded, _script):
        if is_unspaced is not None:
            yield "".join(characters), is_unspaced


@lru_cache(maxsize=4096)
def _script(character: str) -> bool | None:
    """Return True for a character of a script without spaces, and None for one that is no part of a word."""
    if unicodedata.category(character)[0] not in "LMN":
        return None
    return _UNSPACED.match(character) is not None


def spoken_words(
    text: str,
    folded: str = "",
) -> tuple[str, ...] | None:
    """Return the words of a text that can be spoken, in lower case; None if it holds more than words and pauses.

    A question mark or a quotation mark is more than a pause, and so is a character that
    cannot be seen: the text is refused, not repaired, so that it sounds as it looks. In
    a script without spaces, each character is a word. `folded` holds pairs of
    characters: the first is read as the second.
    """
    plain = (
        fold(text, keep_accents=True)
        .translate(_IN_WORDS)
        .translate(character_map(folded))
    )
    if _PAUSES.fullmatch(_SPOKEN_WORD.sub("", plain)):
        return tuple(_SPOKEN_WORD.findall(plain))
    return None


def heard_words(text: str) -> tuple[str, ...]:
    """Return all words of a text, folded without accents; in a script without spaces, each character is one.

    What is elided before a word is a word of its own: "dell'ingresso" holds "ingresso".
    """
    return tuple(
        _SPOKEN_WORD.findall(_ELIDED.sub(r"\1 ", fold(text).translate(_IN_WORDS)))
    )


MOST_COMPARED: Final = 1_000
"""Characters of a request whose words are compared: nobody says more in one, and an API client may send a book."""
MOST_UNDERSTOOD: Final = 300
"""Characters of a sentence that is understood without a model. A longer one is the model's alone."""


def contains_phrase(
    words: Sequence[str],
    phrase: Sequence[str],
) -> bool:
    """Return whether words contain a phrase of at least one word."""
    length = len(phrase)
    return length > 0 and any(
        words[start : start + length] == phrase
        for start in range(len(words) - length + 1)
    )


_STEM: Final = 4
"""Letters with which two forms of a word begin alike."""
_ROOM: Final = re.compile(
    r"(?<=\w{3})(?:(?:e|en|s)?(?:zimmer|raum|kammer|kamer)|room|rum(?:met)?)"
)
"""The end of the name of a room that people leave out: "Bad", "slaap". English, German, Dutch, Swedish."""


def words_alike(
    words: Iterable[str],
    others: Collection[str],
) -> frozenset[str]:
    """Return those words that are, folded, one of some others or a form of one."""
    forms = {fold(other) for other in others}
    return frozenset(
        word
        for word in words
        if word in forms or any(_is_alike(word, form) for form in forms)
    )


def _is_alike(word: str, other: str) -> bool:
    """Return whether two words are the same, or forms of one; in other scripts, one may be a part of the other."""
    if word[:1] != other[:1] and word.isascii():
        return False
    if word == other or (not word.isascii() and word in other):
        return True
    stem = max(
        _STEM,
        min(len(word), len(other)) - 1,
    )
    short, long = sorted(
        (word, other),
        key=len,
    )
    return word[:stem] == other[:stem] or (
        long.startswith(short) and _ROOM.fullmatch(long, len(short)) is not None
    )


def character_map(pairs: str) -> dict[int, int]:
    """Return a table for `str.translate` from pairs of characters: the first becomes the second."""
    return str.maketrans(
        pairs[::2],
        pairs[1::2],
    )


def read_data_file[
    T,
](module: str, kind: type[T], name: str = "") -> T:
    """Read a TOML file beside a module as a type that pydantic validates: that of its name, or another one.

    It reads from disk: call it at import.
    """
    path = Path(module).with_suffix(".toml")
    return _read(path.with_name(name) if name else path, kind)


def _read[
    T,
](path: Path, kind: type[T]) -> T:
    return TypeAdapter(kind).validate_python(tomllib.loads(path.read_text("utf-8")))


def words_by_language(module: str, name: str) -> frozenset[str]:
    """Read the words of all languages from a TOML file that has a line for each. Call it at import, too."""
    texts = read_data_file(module, dict[str, str], name)
    return frozenset(" ".join(texts.values()).split())


_LANGUAGES: Final = Path(__file__).parents[1] / "languages"


def read_language_files[
    T,
](name: str, kind: type[T]) -> Mapping[str, T]:
    """Read `languages/<language>/<name>.toml` by the codes of languages. It reads from disk: call it at import."""
    files = sorted(_LANGUAGES.glob(f"*/{name}.toml"))
    return {file.parent.name: _read(file, kind) for file in files}


def capitalized(text: str) -> str:
    """Return a text with an initial capital."""
    return text[:1].upper() + text[1:]


def uncapitalized(text: str) -> str:
    """Return a text with a small initial letter, as within a sentence."""
    return text[:1].lower() + text[1:]


def shortened(text: str, length: int) -> str:
    """Return a text of at most `length` characters: the beginning and the end of a longer one, and how much is missing.

    `length` must leave room for the note on the missing part, which has up to 70
    characters.
    """
    if len(text) <= length:
        return text
    count = length - len(_note(len(text)))
    end = count // 4
    first = text[: count - end]
    last = text[len(text) - end :]
    note = _note(len(text) - count)
    return first + note + last


def clipped(text: str, length: int) -> str:
    """Return a text on one line, of at most `length` characters: the beginning of a longer one."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    return line[: length - len(ELLIPSIS)] + ELLIPSIS


def _note(missing: int) -> str:
    return f"\n[… {missing} characters were left out here to save room …]\n"


def base_language(tag: str) -> str:
    """Return the language of a tag, without region or script: `pt` for `pt-BR` and `pt_BR`."""
    return tag.replace("_", "-").partition("-")[0].lower()


def find_tool(
    name: str,
    tools: Sequence[ToolDefinition],
) -> ToolDefinition | None:
    """Return the one tool that a name means, or None.

    An exact match wins; then the only tool whose name differs in case, in the prefix
    before a double underscore, or in a single underscore in its place (Home Assistant
    added the domain to all its tools in 2026.9; some had it already, as in
    `todo_get_items`). Remains of a chat template do not count.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    for written in dict.fromkeys((name.strip(), plain_tool_name(name))):
        for spelling in _SPELLINGS:
            spoken = spelling(written)
            matches = [
                tool for tool in tools if spoken and spelling(tool.name) == spoken
            ]
            if len(matches) == 1:
                return matches[0]
    return None


_MARK: Final = r"<[|\uff5c/]?+[^<>=]{1,60}+>|\[/?+(?:TOOL_CALLS?|TOOL_REQUEST|ARGS)\]|\[CALL_ID\][\w-]*+"
"""A token of a chat template, or a tag."""
_GLUED: Final = re.compile(
    rf"{_MARK}|[<>\s\u2581\"'`*]",
    re.IGNORECASE,
)
_AROUND_NAMES: Final = frozenset(
    {
        "analysis",
        "assistant",
        "code",
        "commentary",
        "final",
        "function",
        "invoke",
        "json",
        "tool",
    }
)
_NAMESPACE: Final = re.compile(r"\A(?:functions?|tools?|default_api|name)[.:/=]")
_NUMBERED: Final = re.compile(r":\d++\Z")
_AROUND_ARGUMENTS: Final = re.compile(
    rf"(?:{_MARK}|(?:code|json)\b|[\s\u2581`])*+", re.IGNORECASE
)


def plain_tool_name(name: str) -> str:
    """Return the name of a tool without what a server leaves of a chat template around it.

    That is tokens, the header of a message (`assistant to=functions.NAME json`), a
    namespace and a number (`functions.NAME:0`). Where more than one word is left, the
    text is returned as it is.
    """
    words = [word for word in _GLUED.split(name.rpartition("to=")[2]) if word]
    names = [word for word in words if word.casefold() not in _AROUND_NAMES]
    if len(names) != 1:
        return name
    return _NUMBERED.sub(
        "", _NAMESPACE.sub("", names[0]).removesuffix("()").rstrip(".,:;")
    )


def plain_arguments(text: str) -> str:
    """Return the object in the arguments of a call, if only tokens of a chat template or a fence surround it."""
    start = text.find("{")
    end = text.rfind("}") + 1
    if (
        0 <= start < end
        and _AROUND_ARGUMENTS.fullmatch(text, 0, start)
        and _AROUND_ARGUMENTS.fullmatch(text, end)
    ):
        return text[start:end]
    return text


def sendable_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le",
        "replace",
    )


_CONTROLS: Final = "".join(
    map(
        chr,
        (
            *range(9),
            11,
            12,
            *range(14, 32),
            *range(127, 160),
        ),
    )
)
"""Characters that nobody says or writes. Tabs and line ends are none of them."""
CONTROL: Final = re.compile(f"[{re.escape(_CONTROLS)}]")
"""Finds one of them."""
_TORN: Final = re.compile(r"\x00(?:([0-9a-f]{2})|(?=[^\x00-\x9f]))", re.IGNORECASE)
"""The rest of an escape such as `\\u00f8` that was torn: a NUL, and the last digits or the letter."""


def mended_text(text: str) -> str:
    """Return a text with the letters of torn escapes, and without control characters at its ends."""

    def letter(torn: re.Match[str]) -> str:
        if torn[1]:
            return chr(int(torn[1], 16))
        return ""

    return _TORN.sub(letter, text).strip(_CONTROLS)


def without_tokens(text: str) -> str:
    """Remove tokens of a chat template from an id."""
    return re.sub(_MARK, "", text).strip()


def spellings(tools: Iterable[ToolDefinition]) -> tuple[str, ...]:
    """Return the names under which `find_tool` finds tools, in lower case, sorted."""
    return tuple(
        sorted(
            {spelling(tool.name) for tool in tools for spelling in _SPELLINGS} - {""}
        )
    )


def _bare(name: str) -> str:
    return plain_name(name).rpartition("__")[2]


def _joined(name: str) -> str:
    return plain_name(name).replace("__", "_")


_SPELLINGS: Final = (
    plain_name,
    _bare,
    _joined,
)


_NAME_LENGTH: Final = 64


def sendable_name(name: str) -> str:
    """Return the name of a tool in the characters and the length that every service accepts."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def sendable_call_id(call_id: str, pattern: str) -> str:
    """Return an id that matches `pattern`, else nine letters or digits derived from it.

    The same id always gives the same result: calls and results keep matching, and
    requests keep their bytes.
    """
    if re.fullmatch(pattern, call_id):
        return call_id
    return blake2b(call_id.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def attachment_note(attachment: Attachment) -> str:
    """Return the text that stands for an attachment that the model cannot read."""
    if attachment.name:
        named = f" named {sendable_text(attachment.name)}"
    else:
        named = ""
    return f"[A file of type {attachment.mime_type}{named} was attached here. You cannot see it: say so if it matters.]"


class _HeardWords(BaseModel, frozen=True, extra="forbid"):
    """The unmeant words of a language. Patterns describe a whole sentence: its folded words, divided by spaces."""

    tails: tuple[str, ...]
    """Courtesies, which people say, too: they are dropped after other words only."""
    noise: tuple[str, ...]
    """Sentences of recognizers, which are dropped in any language, even alone."""
    hesitations: str
    """Words, divided by spaces, that are dropped at the beginning and between pauses."""
    corrections: Mapping[str, str] = {}
    """Beginnings that are always misheard."""


class _HeardTable(BaseModel, frozen=True, extra="forbid"):
    sounds: str
    """Words of all languages, divided by spaces, of which brackets around a sound hold one."""
    credits: tuple[str, ...]
    """Words of all languages that only the credits of subtitles hold."""
    quoting: str
    """Words of all languages, divided by spaces, after which a courtesy is what is to be said or written."""
    languages: Mapping[str, _HeardWords]


_HEARD: Final = read_data_file(__file__, _HeardTable, "heard.toml")
_SOUND: Final = rf"\b(?:{'|'.join(_HEARD.sounds.split())})\b"
_SOUND_ALONE: Final = rf"(?:[^\W\d_]+ )?{_SOUND}(?: {_SOUND})?"
"""A sound, with one word before it at most: "upbeat music"."""
_SOUNDS: Final = re.compile(
    rf" ?(?:\[\s*{_SOUND_ALONE}\s*\]|(?<!\*)\*\s*{_SOUND_ALONE}\s*\*(?!\*)|♪[^♪]*♪|♪"
    rf"|(?:\A|(?<=[.!?…]))\s*\(\s*{_SOUND_ALONE}\s*\)) ?",
    re.IGNORECASE,
)
"""Sounds in brackets. Round ones may be part of a name or an item, so these have to stand between sentences."""
_SUNG: Final = re.compile(r"♪[^♪\w]*\w[^♪]*♪")
_NOISE: Final = re.compile(
    "|".join(pattern for words in _HEARD.languages.values() for pattern in words.noise)
)
_CREDITS: Final = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(one)}(?!\w)" if one.isascii() else re.escape(one)
        for one in map(fold, _HEARD.credits)
    )
)
_SENTENCE_END: Final = re.compile(r"(?<![.!?…])[.!?…]++\s+|[。！？\n]\s*")  # noqa: RUF001 - Chinese marks
_SILENCE: Final = re.compile(r"[\s.,!…。，！·-]*")  # noqa: RUF001 - as above
_SENTENCE_WORDS: Final = re.compile(r"[\w']+")
_QUOTING: Final = "|".join(_HEARD.quoting.split())
_QUOTES: Final = re.compile(
    rf"[:：\"“„«「](?!\d)|(?<!\w)['‘‚]|\b(?:{_QUOTING})",  # noqa: RUF001 - as above
    re.IGNORECASE,
)
"""Words after such a mark or word are to be written or said, whatever they are."""
_STUTTER: Final = re.compile(
    r"\A\s*([^\W\d_]+(?:\s+[^\W\d_]+){1,3})[\s,.…-]+(?=\1\s+\w)", re.IGNORECASE
)
"""A phrase of two to four words at the beginning that is said again."""
_LONGEST_HEARD: Final = 2_000
"""Characters of a text that a recognizer may have written. A longer one is typed or sent."""
_NO_TEXT: Final = "(?!)"
"""Matches no text."""
_CURLY: Final = "\N{RIGHT SINGLE QUOTATION MARK}"
_ACRONYM: Final = re.compile(r"(?<![\w.])(?:[A-Z]\.){2,}")


def heard_request(text: str, language: str) -> str:
    """Return a request without what nobody meant; empty if nothing was said. Other text is returned as it is."""
    cleaner = _cleaner(language)
    words = _STUTTER.sub(
        "", cleaner.hesitation.sub(_end_in, cleaner.without_end(text)).strip()
    )
    words = cleaner.misheard.sub(
        lambda start: cleaner.corrections[start[0].casefold()], words
    )
    return _ACRONYM.sub(
        lambda letters: letters[0].replace(".", ""),
        words,
    )


def _end_in(hesitation: re.Match[str]) -> str:
    """Return the end of a sentence, or the comma of a list, that stands before a hesitation, or a space."""
    end = hesitation[0].lstrip()[:1]
    is_last = hesitation.end() == len(hesitation.string)
    if hesitation.start() and end in {".", "…", *("," * (not is_last))}:
        return f"{end} "
    return " "


def heard_answer(text: str, language: str) -> str:
    """Return the answer to a question without sounds, and without what nobody meant at its end.

    Words that are sung stay, since they may be a no: no answer is a yes beside them.
    """
    if _SUNG.search(text):
        return text
    return _cleaner(language).without_end(text)


@dataclass(frozen=True, slots=True)
class _Cleaner:
    """The patterns of a language."""

    tail: re.Pattern[str]
    hesitation: re.Pattern[str]
    misheard: re.Pattern[str]
    corrections: Mapping[str, str]

    def without_end(self, text: str) -> str:
        """Return a text without sounds and without the sentences at its end that nobody meant."""
        if len(text) > _LONGEST_HEARD:
            return text
        words = _SOUNDS.sub(" ", text).strip()
        while words:
            start = max(
                (
                    end.end()
                    for end in _SENTENCE_END.finditer(words)
                    if end.end() < len(words)
                ),
                default=0,
            )
            if not self._is_unmeant(words[start:], words[:start]):
                return words
            words = words[:start].rstrip()
        return words

    def _is_unmeant(
        self,
        sentence: str,
        before: str,
    ) -> bool:
        """Return whether a sentence is noise, or a courtesy after other words of which none are quoted."""
        words = " ".join(_SENTENCE_WORDS.findall(fold(sentence).replace(_CURLY, "'")))
        if (
            _SILENCE.fullmatch(sentence)
            or _NOISE.fullmatch(words)
            or ("?" not in sentence and _CREDITS.search(words))
        ):
            return True
        return (
            bool(before)
            and not _QUOTES.search(before)
            and self.tail.fullmatch(words) is not None
        )


@lru_cache(maxsize=64)
def _cleaner(language: str) -> _Cleaner:
    words = _HEARD.languages.get(
        base_language(language), _HeardWords(tails=(), noise=(), hesitations="")
    )
    pause = r"[\s,.…!，-]"  # noqa: RUF001 - as above
    one = rf"(?:{'|'.join(words.hesitations.split()) or _NO_TEXT})(?![\w'{_CURLY}-])"
    return _Cleaner(
        re.compile("|".join(words.tails) or _NO_TEXT),
        re.compile(
            rf"\A\s*(?:{one}{pause}*)+|[,.…]\s*{one}\s*(?:[,.…]{pause}*|\Z)",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\A(?:{'|'.join(words.corrections) or _NO_TEXT})\b", re.IGNORECASE
        ),
        words.corrections,
    )
