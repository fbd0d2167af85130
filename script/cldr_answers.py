"""Writes the words for yes and no, and the digits, of the languages of Home Assistant, as the Unicode CLDR has them.

    npm pack cldr-misc-full && tar xzf cldr-misc-full-*.tgz
    .venv/bin/python script/cldr_answers.py package custom_components/chatterbox/approvals/answers/cldr.toml

The words for yes and no are the `posix` messages of the npm package `cldr-misc-full`;
the digits are the CLDR's rules for spelled-out numbers, in the package `unicode-rbnf`.
Languages with files of their own need neither.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import home_assistant_intents
from homeassistant.generated.languages import LANGUAGES
from unicode_rbnf import RbnfEngine

from custom_components.chatterbox.approvals.answers.language import WORDINGS

PLAIN_NUMBER = re.compile(
    r"spellout-(numbering|cardinal(-(masculine|feminine|neuter|sinokorean))?)"
)
"""The names of the rules for numbers that stand alone."""


def words(message: str) -> list[str]:
    """Return the words of a message such as "tak:t", without their initials."""
    first, *parts = (part.strip().lower() for part in message.split(":"))
    return [
        first,
        *(one for one in parts if len(one) > 1 and not first.startswith(one)),
    ]


def digits(language: str) -> list[str]:
    """Return the ways to say 0 to 9, as templates; none for a language without rules."""
    try:
        engine = RbnfEngine.for_language(language)
        formatted = [
            engine.format_number(number).text_by_ruleset for number in range(10)
        ]
    except ValueError:
        return []
    spoken = (
        {text for name, text in texts.items() if PLAIN_NUMBER.fullmatch(name)}
        for texts in formatted
    )
    return [
        "|".join(sorted(text for text in texts if not any(map(str.isdecimal, text))))
        for texts in spoken
    ]


def tables(package: Path) -> Iterator[str]:
    """Yield the table of each language. What the CLDR only inherits from English is left out."""
    tags = sorted(
        {
            *LANGUAGES,
            *(
                file.stem
                for file in Path(home_assistant_intents.__file__).parent.glob(
                    "data/*.json"
                )
            ),
        }
    )
    found: dict[str, dict[str, list[str]]] = {}
    for tag in tags:
        base = tag.partition("-")[0]
        file = package / "main" / tag / "posix.json"
        if base in WORDINGS or not file.exists():
            continue
        messages = json.loads(file.read_text("utf-8"))["main"][tag]["posix"]["messages"]
        if messages["yesstr"] == "yes:y":
            continue
        known = found.setdefault(base, {"yes": [], "no": [], "digits": digits(base)})
        known["yes"] += [
            one for one in words(messages["yesstr"]) if one not in known["yes"]
        ]
        known["no"] += [
            one for one in words(messages["nostr"]) if one not in known["no"]
        ]
    for base, fields in found.items():
        lines = (
            f"{name} = {json.dumps(texts, ensure_ascii=False)}"
            for name, texts in fields.items()
            if all(texts)
        )
        yield "\n".join(
            (f"[{base}]", *(line for line in lines if not line.endswith("[]")), "")
        )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    version = json.loads((arguments.package / "package.json").read_text("utf-8"))[
        "version"
    ]
    source = f"the Unicode CLDR {version} (Unicode License v3)"
    head = f"# Yes, no and the digits by language, from {source}. script/cldr_answers.py writes this.\n"
    arguments.target.write_text(
        "\n".join((head, *tables(arguments.package))), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
