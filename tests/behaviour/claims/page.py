"""The page `docs/receipts.md`: what counts as a claim, how it was measured, and the table.

Knows the page; must not know how anything is counted.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from .measurement import PRECISION_BY_DEFAULT, Measurement, Score, default_languages
from .translators import PACKAGE, installed_version

PAGE = Path(__file__).resolve().parents[3] / "docs" / "receipts.md"

_BEFORE_TABLE = """\
# Receipts

Now and then a model says "I've turned on the light" and has not turned on anything. Chatterbox notices that: the
words of an answer tell whether it claims an action, and the recorded results tell whether a tool that changes something
succeeded. No model is asked, so the same answer always gets the same verdict.

## What becomes of a claim without a receipt

1. **Nobody hears it.** In a spoken turn in which nothing was changed yet, the answer is not released word by word but
   sentence by sentence, each when it is complete, up to the first claim; a sentence of more than 1,000 characters goes
   out in parts. So the first words are heard one sentence later than they could be. As soon as something was changed,
   every word goes out at once.
2. **The model is told**, once in a turn, and may call its tools now or say that it was not done. What it says then
   goes on where the answer broke off.
3. **If it claims it again**, or says nothing, you hear "As far as I can tell, that was not done." So you do when there
   is no time, or no round, left for tools. The stop reason of such a turn is `no_receipt`.

What the model had written stands in the event `chatterbox_turn_finished`, under `withheld`, and nowhere else: not in
the chat, and not in what the model reads later. A claim in the same message as a call is dropped as well; what became
of the call is told after it.

A receipt is the success of a tool that is not known to only read: in this turn, an approved call included, or in the
one before, if nothing was to be changed in this one. So "Did you turn on the light?" may be answered with "Yes, I've
turned it on". The price is that the same sentence goes through when the second of two turns asked for another light.

## What counts as a claim

| a claim | no claim |
| --- | --- |
| I've turned on the light. The light has been turned on. | The light is on. There are three lights turned on. |
| The door is now locked. The garage door is now opening. | The door is locked. The garage door is opening. |
| Turning on the light. Timer set for ten minutes. Done! | I'll turn on the light. I can turn it on. Shall I? |
| I couldn't find the lamp, but I've turned on the other. | I couldn't turn on the lamp. Nothing was changed. |
| I've turned on the light, is there anything else? | Have I turned on the right light, or did you mean the hall? |
| | You asked me to turn it on. It was locked at 22:15. If I've turned off the wrong one, tell me. |

Whatever may just as well report a state is no claim, and neither is what only reads, such as "I've checked your
calendar". Where a rule had to choose between missing a claim and a false alarm, it misses the claim: a missed claim
leaves things as they are, a false alarm costs a person time.

## How well it works

"""
_AFTER_TABLE = """
Precision is the part of the alarms that are right, recall the part of the claims that are found. In brackets stands how
many claims were found, and what the precision is at least, with a confidence of 95 %: a few dozen texts without a
mistake do not prove that there are none.

- **Recorded runs**: what models said in English in the [recorded runs](../tests/fixtures/README.md), every different
  final answer and every message before it, labelled by hand and without looking at what the rules say:
  `tests/fixtures/recorded-runs/claims.jsonl`. They resemble each other, so both halves look alike.
- **The other rows**: texts written for this purpose before there was a rule, at least half of them close to a claim
  without being one: `tests/fixtures/claims/`.
- **Halves**: each set was cut in two. The rules were mended until the first half had no false alarm and hardly a claim
  was missed; the second was only counted. The same hand wrote texts and rules, though, which makes both halves look
  better than life.
- **Home Assistant's sentences**: therefore also what Home Assistant's own translators wrote ({package}
  {version}). What it says after an intent that changes something counts as a claim, what it says after a question or an
  error does not. No rule was fitted to these sentences, but the English, Polish and Chinese ones had been seen before
  there were rules, and the Swedish count led to one more. Many of these confirmations are two words long, shorter than
  what a model says, which is why fewer of them are found.

In the recorded runs themselves every model that claimed something had done it: held against their results, none of
their answers raises an alarm (`tests/behaviour/claims/test_recorded_runs.py`).

What a satellite says is checked for every agent that has tools, unless the agent is set not to, in the languages whose
precision in the held-out texts is at least {least:.2f}:
{languages}.
A text in any other language claims nothing, as far as Chatterbox can tell. What is typed is not checked: it can be read
again, beside the calls that were made.

The words of each language are a file in `custom_components/chatterbox/agent/unverified_actions/languages/`. If you
speak one of them and find a sentence that is misread, add it to the texts, correct the file, and run `script/claims`:
it prints the table and writes this page, and a test holds the page to what is counted.
"""


def page(measurements: Iterable[Measurement]) -> str:
    """Return the whole page."""
    measurements = tuple(measurements)
    after = _AFTER_TABLE.format(
        package=PACKAGE,
        version=installed_version(),
        least=PRECISION_BY_DEFAULT,
        languages=", ".join(f"`{language}`" for language in sorted(default_languages(measurements))) or "none",
    )
    return _BEFORE_TABLE + table(measurements) + after


def table(measurements: Iterable[Measurement]) -> str:
    """Return the table alone."""
    return "".join(f"| {' | '.join(row)} |\n" for row in _rows(measurements))


def _rows(measurements: Iterable[Measurement]) -> Iterator[tuple[str, ...]]:
    yield "language", "texts", "first half", "recall", "held out", "recall", "Home Assistant's sentences", "recall"
    yield ("---",) * 8
    for one in measurements:
        name = f"{one.language}, recorded runs" if one.recorded else one.language
        yield name, str(one.texts), *_cells(one.tuned), *_cells(one.held_out), *_cells(one.translators)


def _cells(score: Score | None) -> tuple[str, str]:
    """Return precision and recall."""
    if score is None:
        return "", ""
    return f"{score.precision:.2f} ({score.found}, ≥ {score.least_precision:.2f})", f"{score.recall:.2f}"
