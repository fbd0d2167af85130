"""Writes the page `docs/unverified-actions.md`: the text and the table of measurements."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from .measurement import PRECISION_BY_DEFAULT, Measurement, Score, default_languages
from .translators import PACKAGE, installed_version

PAGE = Path(__file__).resolve().parents[3] / "docs" / "unverified-actions.md"

_BEFORE_TABLE = """\
# Unverified actions

Now and then a model says "I've turned on the light" and has not turned on anything. Chatterbox notices that: the words
of an answer show whether it reports an action, and the recorded tool results show whether a tool that changes something
succeeded. No model is involved, so the same answer always gets the same verdict.

## What happens to an unverified action

1. **Nobody hears it.** In a spoken turn in which nothing was changed yet, the answer is released sentence by sentence
   instead of word by word, each sentence when it is complete, up to the first report of an action; a sentence of more
   than 1,000 characters goes out in parts. So the first words are heard one sentence later than they could be. As soon
   as something was changed, every word goes out at once.
2. **The model is told**, once in a turn, and may call its tools now or say that it was not done. Its new answer
   continues where the old one broke off.
3. **If it reports the action again**, or says nothing, you hear "As far as I can tell, that wasn't done." So you do if
   there is no time, or no round, left for tools. The stop reason of such a turn is `unverified_action`.

The withheld text is in the event `chatterbox_turn_finished`, under `withheld`, and nowhere else: not in the chat, and
not in what the model reads later. A report in the same message as a call is dropped as well; the outcome of the call is
told after it.

An action is verified by the success of a tool that is not known to be read-only: in this turn, approved calls included,
or in the previous one, if nothing was to be changed in this one. So "Did you turn on the light?" may be answered with
"Yes, I've turned it on". The price is that the same sentence passes when the second of two turns asked for another
light.

## What counts as a report of an action

| a report | no report |
| --- | --- |
| I've turned on the light. The light has been turned on. | The light is on. There are three lights turned on. |
| The door is now locked. The garage door is now opening. | The door is locked. The garage door is opening. |
| Turning on the light. Timer set for ten minutes. Done! | I'll turn on the light. I can turn it on. Shall I? |
| I couldn't find the lamp, but I've turned on the other. | I couldn't turn on the lamp. Nothing was changed. |
| I've turned on the light, is there anything else? | Have I turned on the right light, or did you mean the hall? |
| | You asked me to turn it on. It was locked at 22:15. If I've turned off the wrong one, tell me. |

A sentence that may just as well report a state does not count, and neither does one about reading, such as "I've
checked your calendar". Where a rule had to choose between a missed report and a false alarm, it misses the report: that
leaves things as they are, while a false alarm costs a person time.

## How well it works

"""
_AFTER_TABLE = """
Precision is the part of the alarms that are right, recall the part of the reports that are found. In brackets are the
number of reports found and the least precision with a confidence of 95 %: a few dozen texts without a mistake do not
prove that there are none.

- **Recorded runs**: what models said in English in the [recorded runs](../tests/fixtures/README.md), every different
  final answer and every message before it, labelled by hand and without looking at what the rules say:
  `tests/fixtures/recorded-runs/action-reports.jsonl`. They resemble each other, so both halves look alike.
- **The other rows**: texts written for this purpose before there was a rule, at least half of them close to a report
  without being one: `tests/fixtures/action-reports/`.
- **Halves**: each set was cut in two. The rules were corrected until the first half had no false alarm and hardly a
  report was missed; the second was only counted. The same hand wrote texts and rules, though, which makes both halves
  look better than life.
- **Home Assistant's sentences**: therefore also what Home Assistant's own translators wrote ({package} {version}). What
  it says after an intent that changes something counts as a report, what it says after a question or an error does not.
  No rule was fitted to these sentences, but the English, Polish and Chinese ones had been seen before there were rules,
  and the Swedish count led to one more. Many of these confirmations are two words long, shorter than what a model says,
  which is why fewer of them are found.

In the recorded runs themselves every model that reported an action had done it: held against their results, none of
their answers raises an alarm (`tests/behaviour/unverified_actions/test_recorded_runs.py`).

What a satellite says is checked for every agent that has tools, unless the agent is set not to, in the languages whose
precision in the held-out texts is at least {least:.2f}:
{languages}.
Texts in other languages are not checked. Neither are typed conversations: there, the answer can be read again, beside
the calls that were made.

The rules of each language are a file in `custom_components/chatterbox/agent/unverified_actions/languages/`. If you
speak one of them and find a sentence that is misread, add it to the texts, correct the file, and run
`script/unverified-actions`: it prints the table and writes this page, and a test holds the page to what is counted.
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
