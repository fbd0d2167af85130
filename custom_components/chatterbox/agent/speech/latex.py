r"""Turns LaTeX within a word into what is said: models write `$21^\circ\text{C}$` for 21 °C.

Knows the few commands that stand in answers about a house, and which dollar signs are no money.
Must not know Markdown. It leaves alone what it gave back itself, and the backslashes of paths.
"""

import re
from typing import Final

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
"""Commands that say how something looks."""

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
"""Where a formula of several words begins and ends: money has a digit there, or letters before it."""
_BRACES: Final = re.compile(r"[{}]")
_SUPERSCRIPTS: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def without_latex(word: str) -> str:
    """Resolve commands, exponents, braces and dollar signs; the result may contain whitespace."""
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
