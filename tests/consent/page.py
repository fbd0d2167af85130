"""The page `docs/consent.md`: what counts as a yes, how it was measured, and the table.

Knows the page; must not know how anything is counted.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from custom_components.chatterbox.agent.consent.answers import MAX_WORDS
from custom_components.chatterbox.agent.consent.pin import LONGEST_PIN, SHORTEST_PIN
from custom_components.chatterbox.agent.consent.pin_guard import LOCK_SECONDS, MAX_TRIES

from .measurement import Measurement

PAGE = Path(__file__).resolve().parents[2] / "docs" / "consent.md"

_BEFORE_TABLE = """\
# A spoken yes

"Unlock the front door?" What is said next is understood without a model, by lists of words, so that the same answer
always means the same: a plain yes, a plain no, or something else. Only a plain yes is a yes. This is built and tested;
Chatterbox does not ask yet ([roadmap](roadmap.md)).

## What counts as a yes

| a yes | a no | neither |
| --- | --- | --- |
| Yes. Yeah, go ahead. Sure. Okay. | No. No, thank you. Leave it. Don't. | I guess so. No problem. Thank you. |
| Yes, unlock it. Yes, the front door, please. | Don't unlock it. Not the front door. | Yes, the garage. Yes, lock it. |
| Yes, right now. | Not yet. Not now. Later. | Yes, in ten minutes. Yes, but not the garage. |
| Yes, yes, yes. | No, cancel. Never mind. | No, wait, yes. Yes, I mean no. |
| | | Yes? He said yes. "Yes". Unlock the front door. |

- **Every word has to be understood**, from the first to the last. What is left over makes it neither. So do more than
  {most} words, a question mark, a quotation mark, a letter of another alphabet, an invisible character, an emoji.
- **Capitals, punctuation and blanks do not matter**: speech recognition sets them as it likes.
- **An answer may repeat the question** behind a yes: what is to be done, and the device, if only one was asked about,
  by a name that nothing else in the home has, and where it is; or the whole question, however long, in its own words.
  The request alone, once more, is no yes: a television may say it twice.
- **A correction is neither**: "No, the back door" is a new request.
- **Some names cannot be repeated**: those with a word that says no in that language, and those that are another action,
  such as a door named "Lock".

## How well it works

"""
_AFTER_TABLE = """
The answers were written for this purpose before the lists, about half of them close to a yes without being one:
`tests/fixtures/consent/`. The same hand wrote answers and lists, which makes the table look better than life: people
also agree in words that are on no list ("great!"), and are asked again. The other mistake may not happen, and a test
holds it at zero.

The words of each language stand in a file of its own, in `custom_components/chatterbox/agent/consent/`. If you speak
one of them and miss a word, add it to the answers and to the file, and let `script/consent` count again: it prints the
table and writes this page, and a test holds the page to what is counted. A word belongs there if it agrees to any
question, all alone, and cannot be an exclamation, thanks or hesitation.

## A spoken PIN

"Four seven one one", "47 11", "forty seven eleven", "double seven oh one", and "my PIN is" before it, are understood in
the same languages. "Forty seven" is 47; with a pause, "forty, seven", it is 407. Hundreds and thousands are not
understood, nor is anything that could be two PINs, such as Chinese 四十七十一 or "forty 7": better to be asked again
than to lose a try.

- A PIN has {shortest} to {longest} digits. One that anybody would try first is refused: 0000, 1234, 9876, 1212.
- It is kept as a salted hash (scrypt), and compared in constant time. With so few digits, a hash only slows a thief
  down: keep it as you keep a password.
- After {tries} wrong tries in a row a place is locked for {minutes} minutes, per agent and per device, restarts
  included.
"""


def page(measurements: Iterable[Measurement]) -> str:
    """Return the whole page."""
    before = _BEFORE_TABLE.format(most=MAX_WORDS)
    after = _AFTER_TABLE.format(
        shortest=SHORTEST_PIN, longest=LONGEST_PIN, tries=MAX_TRIES, minutes=round(LOCK_SECONDS / 60)
    )
    return before + table(measurements) + after


def table(measurements: Iterable[Measurement]) -> str:
    """Return the table alone."""
    return "".join(f"| {' | '.join(row)} |\n" for row in _rows(measurements))


def _rows(measurements: Iterable[Measurement]) -> Iterator[tuple[str, ...]]:
    yield "language", "a yes", "understood", "a no", "understood", "neither", "taken for a yes"
    yield ("---",) * 7
    for one in measurements:
        yield (
            one.language,
            str(one.yes),
            f"{one.yes_recall:.2f}",
            str(one.no),
            f"{one.no_recall:.2f}",
            str(one.other),
            str(one.false_yes),
        )
