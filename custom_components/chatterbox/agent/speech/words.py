"""Removes markup from single words: Markdown, HTML, LaTeX, addresses and emoji. `SpeechFilter` handles longer markup.

Every function leaves its own results unchanged.
"""

import html
import re
from typing import Final

_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE: Final = re.compile(r"\\+([!-/:-@\[-`{-~]|$)")
_TAG: Final = re.compile(r"</?([A-Za-z][\w:-]*)/?>")
_LINE_TAGS: Final = frozenset(
    {"br", "p", "div", "li", "ul", "ol", "tr", "table", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"dl", "dt", "dd", "pre", "details", "summary", "section", "article", "header", "footer", "caption", "figcaption"}
)
_CELL_TAGS: Final = frozenset({"td", "th"})

_ARROW: Final = re.compile("[\u21d2\u2794\u279c\u27a1\u27f6\u27f9]\ufe0f?|(?<!\\S)[-=]>(?!\\S)")
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2500-\u27bf\u2b00-\u2bff\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u24c2\u2139\u3030\u303d"
    "\u3297\u3299][\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*|[\ufe00-\ufe0f\u20e3]"
)
_SHORTCODE: Final = re.compile(r"(?<!\w):[a-z][a-z0-9_+-]*[a-z0-9]:(?!\w)")
"""An emoji by its name."""
_HYPHEN: Final = re.compile("[\u2010\u2011]|\u2212(?=\\d)")
"""Non-breaking hyphens and the minus of a number, which not every voice knows."""
_HIGHLIGHT: Final = re.compile(r"(?<![\w=])==(?=\w)|(?<=[\w.!?])==(?![\w=])")
_LITERAL_BREAK: Final = re.compile(r"(?:(?<=[.!?:;,)\"])|\A)(?:\\+n)+(?![a-z])")
"""A line break that was escaped twice."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u2060\ufeff\x00-\x08\x0e-\x1b\x7f]")
_EMOTICON: Final = re.compile(r"(?:[:;=]['^-]?[)(DPp]+|<3+|\^_+\^|[xX]D+)([.,!?…]*)")

_MARKS: Final = {**dict.fromkeys("✅✔✓☑", True), **dict.fromkeys("❌✖✗✘", False)}
_CITATION: Final = re.compile(r"(?<=[\w.,!?;:)\]\"'])\[\d{1,3}\]|\[\^[^\[\]\s]{1,40}\]|\[[xX]\](?!\()")
_TARGET: Final = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)|\]\[[^\[\]\s]*\]")
_ADDRESS: Final = re.compile(r"<?(?:(?:https?|ftp)://|www\.|mailto:|data:\w+/)[^\s<>\"]*>?", re.IGNORECASE)
_AFTER_ADDRESS: Final = ".,;:!?)]}'*_…»”\u2019|"
_STARS: Final = re.compile(r"(.?)\*+(?=(.?))")
_UNDERSCORES: Final = re.compile(r"(.?)_+(?=(.?))")

_SYMBOLS: Final = (
    {"circ": "°", "degree": "°", "celsius": "°C", "percent": "%", "euro": "€", "mu": "µ", "Omega": "Ω", "pi": "π"}
    | {"times": "×", "cdot": "·", "div": "÷", "pm": "±", "approx": "≈", "sim": "~", "infty": "∞"}  # noqa: RUF001  # a sign
    | {"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "sqrt": "√"}
    | {"to": "→", "rightarrow": "→", "Rightarrow": "→", "ldots": "…", "dots": "…", "quad": " ", "qquad": " "}
)
_FORMS: Final = frozenset(
    {"text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mathit", "mathsf", "operatorname", "boxed"}
    | {"left", "right", "big", "Big", "displaystyle", "unit", "si"}
)
"""Commands for the appearance only."""

_MAY_BE_LATEX: Final = re.compile(r"[\\$^{}]")
_PATH: Final = re.compile(r"\W*+[A-Za-z]:\\|\\\\\w++\\")
_FRACTION: Final = re.compile(r"(?<!\\)\\++[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_COMMAND: Final = re.compile(r"(?<!\\)\\++([A-Za-z]++)")
_THIN_SPACE: Final = re.compile(r"\\[,;](?=\S)")
_DELIMITER: Final = re.compile(r"(?<!\\)\\++[()]|\$\$+")
_RAISED: Final = re.compile(r"(?<!\[)\^(?:\{([+-]?\d{1,3}|°)\}|([+-]?\d{1,3}|°))")
_LOWERED: Final = re.compile(r"_\{(\w+)\}")
_FORMULA: Final = re.compile(r"\$([^\s$]+)\$(?!\d)")
_BEGIN: Final = re.compile(r"(?<![\w$])\$(?=[A-Za-z\\{(])")
_END: Final = re.compile(r"(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹°})%])\$")
"""Begin and end of a formula of several words. A dollar sign before a digit or after letters is money."""
_BRACES: Final = re.compile(r"[{}]")
_SUPERSCRIPTS: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def decode(word: str) -> str:
    """Resolve entities, escapes, LaTeX and tags, and remove emoji; the result may contain whitespace.

    All arrows become `→`, and table cells begin with a bar.
    """
    word = _INVISIBLE.sub("", _ENTITY.sub(lambda found: html.unescape(found.group()), word))
    word = _LITERAL_BREAK.sub("\n", word)
    word = _TAG.sub(_of_tag, _ESCAPE.sub(r"\1", without_latex(word)))
    word = _HYPHEN.sub("-", _EMOJI.sub("", _SHORTCODE.sub("", _ARROW.sub("→", word))))
    return found[1] if (found := _EMOTICON.fullmatch(word)) else word


def _of_tag(found: re.Match[str]) -> str:
    name = found[1].casefold()
    if name in _LINE_TAGS:
        return "\n"
    return "|" if name in _CELL_TAGS else ""


def says_yes(word: str) -> bool | None:
    """Return the meaning of a tick or a cross; None for other words."""
    return _MARKS.get(word.removesuffix("\ufe0f"))


def without_targets(word: str) -> str:
    """Remove the targets of links; a target that does not end in the word remains from `](` on."""
    return _TARGET.sub("", _CITATION.sub("", word))


def has_address(word: str) -> bool:
    """Return True if a word contains the address of a page or a file."""
    return _ADDRESS.search(word) is not None


def without_marks(word: str, link: str) -> str:
    """Remove brackets, emphasis and code marks, and replace addresses by `link`."""
    word = word.replace("![", "").replace("[", "").replace("]", "")
    word = _ADDRESS.sub(lambda found: _of_address(found, link), word)
    word = _HIGHLIGHT.sub("", word.replace("~~", "").replace("`", ""))
    return _UNDERSCORES.sub(_of_underscores, _STARS.sub(_of_stars, word))


def _of_address(found: re.Match[str], link: str) -> str:
    address = found.group().removesuffix(">")
    after = address[len(address.rstrip(_AFTER_ADDRESS)) :]
    before = found.string[: found.start()]
    return f"{' ' if before[-1:].isalnum() else ''}{link}{after}"


def _of_stars(found: re.Match[str]) -> str:
    """Keep a multiplication sign."""
    before, after = found[1], found[2]
    multiplies = (before.isdigit() or before == ")") and (after.isdigit() or after == "(")
    return found.group() if multiplies else before


def _of_underscores(found: re.Match[str]) -> str:
    """Keep underscores within a name."""
    return found.group() if found[1].isalnum() and found[2].isalnum() else found[1]


def without_latex(word: str) -> str:
    """Replace LaTeX commands and marks by the characters they stand for; the result may contain whitespace."""
    if not _MAY_BE_LATEX.search(word):
        return word
    word = _BEGIN.sub("", _FORMULA.sub(r"\1", _DELIMITER.sub("", word)))
    if "\\" in word and not _PATH.match(word):
        word = _COMMAND.sub(_of_command, _FRACTION.sub(r"\1/\2", _THIN_SPACE.sub(" ", word)))
    word = _LOWERED.sub(r"\1", _RAISED.sub(_of_raised, word))
    return _BRACES.sub("", _END.sub("", word))


def _of_command(found: re.Match[str]) -> str:
    name = found[1]
    return _SYMBOLS.get(name, "" if name in _FORMS else found.group())


def _of_raised(found: re.Match[str]) -> str:
    return (found[1] or found[2]).translate(_SUPERSCRIPTS)
