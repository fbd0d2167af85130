"""Writes the page `docs/confirmations.md`: the text and the table of measurements."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from custom_components.chatterbox.agent.confirmation.answers import MAX_WORDS
from custom_components.chatterbox.agent.confirmation.pin import LONGEST_PIN, SHORTEST_PIN
from custom_components.chatterbox.agent.confirmation.pin_guard import LOCK_SECONDS, MAX_TRIES
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.turns.pin_redaction import LATELY

from .measurement import Measurement

PAGE = Path(__file__).resolve().parents[3] / "docs" / "confirmations.md"

_BEFORE_TABLE = """\
# Spoken confirmations

"Unlock the front door?" The answer to such a question is understood without a model, by lists of words, so that the
same answer always means the same: a plain yes, a plain no, or something else. Only a plain yes is a yes.

## What happens after a question

> **You:** unlock the front door<br>
> **Satellite:** Unlock the Front Door in the Hallway?<br>
> **You:** yes, please<br>
> **Satellite:** Come in.

Actions that need no confirmation are done at once, and you hear of them before the question. A satellite listens for
the answer without its wake word, and your answer reaches the agent even if Home Assistant handles commands first.

- **A yes** does exactly what was asked, once, before the model says another word. If it would do something else by
  then, because a group has one more lock in it, you are asked again.
- **A no** cancels it, and the model is told.
- **Anything else** drops the question. You hear "OK, I won't do that." before the answer to your new request.
- **Only the place of the question counts**: an answer comes from the same conversation, the same device and the same
  user. Yes and no may also come from a phone or an automation; the first answer counts.
- **After a minute** a question expires; you are told that a later answer came too late. No question survives a restart.

## What is asked

One question names everything that waits for confirmation, by its effect and its device, not by your words:

| asked | because |
| --- | --- |
| Unlock the Front Door in the Hallway? | one device, and where it is, unless its name tells |
| Unlock the Front Door and open the Garage Door? | both were asked for at once |
| Unlock the Front Door along with the rest? | "turn everything off" means the lock, too |
| Run Good Night and unlock the Front Door? | the script unlocks it |
| I can't tell everything this would do. Run Movie Night? | the scene cannot be read |
| Unlock the Front Door in the Hallway? Please say the PIN. | the rules want it |

Of many devices, up to five are named and the others counted; of many kinds of actions, those that let somebody in.
A name is spoken without emoji, brackets and other signs, up to 60 characters of it.

## What counts as a yes

| a yes | a no | neither |
| --- | --- | --- |
| Yes. Yeah, go ahead. Sure. Okay. | No. No, thank you. Leave it. Don't. | I guess so. No problem. Thank you. Fine. |
| Yes, unlock it. Yes, the front door, please. | Don't unlock it. Not the front door. | Yes, the garage. Yes, lock it. |
| Yes, right now. | Not yet. Not now. Later. | Yes, in ten minutes. Yes, but not the garage. |
| Yes, yes, yes. | No, cancel. Never mind. | No, wait, yes. Yes, I mean no. |
| | | Yes? He said yes. "Yes". Unlock the front door. |

- **Every word has to be understood**, from the first to the last. Any other word makes the answer neither. So do more
  than {most} words, a question mark, a quotation mark, a letter of another alphabet, an invisible character, an emoji.
- **Capitals, punctuation and blanks do not matter**: speech recognition sets them as it likes. Nor do accents, where
  nothing else is meant without them: "nao" is "não", but Spanish "si puedes" is "if you can".
- **Words that also greet a visitor or end a conversation** are a yes only after one: "adelante", "avanti",
  "proszę bardzo", "varsågod", "fine".
- **An answer may repeat the question** after a yes: the action, and the device, if the question is about only one, by a
  name that nothing else in the home has, and its place; or the whole question, however long, in its own words. The
  request alone is no yes: a television may say it twice.
- **A correction is neither**: "No, the back door" is a new request.
- **Some names cannot be repeated**: those with a word that says no in that language, and those that are another action,
  such as a door named "Lock".

## How well it works

"""
_AFTER_TABLE = """
The answers were written for this purpose before the lists, about half of them close to a yes without being one:
`tests/fixtures/confirmation/`. The same author wrote answers and lists, so the table looks better than reality: people
also agree in words that are on no list ("great!"), and are asked again. The other mistake must not happen, and a test
holds it at zero.

The words of each language are a file in `custom_components/chatterbox/agent/confirmation/languages/`. If you speak one
of them and miss a word, add it to the answers and to the file, and run `script/confirmations`: it prints the table and
writes this page, and a test holds the page to what is counted. A word belongs there if it alone agrees to any question,
and cannot be an exclamation, thanks or hesitation.

## A spoken PIN

"Four seven one one", "47 11", "forty seven eleven", "double seven oh one", and "my PIN is" before it, are understood in
the same languages, alone or with a yes around them: "Yes, unlock the front door, 4711". "Forty seven" is 47; with a
pause, "forty, seven", it is 407. Hundreds and thousands are not understood, nor is anything that could be two PINs,
such as Chinese 四十七十一 or "forty 7": better to be asked again than to lose a try.

- A PIN has {shortest} to {longest} digits. One that anybody would try first is refused: 0000, 1234, 9876, 1212.
- It is stored as a salted hash (scrypt), and compared in constant time. With so few digits, a hash only slows a thief
  down: protect it like a password.
- It is compared only if a question needs it. Said to any other question, to an expired one, or to none, it is not
  compared.
- After {tries} wrong tries in a row, an agent takes no PIN from a satellite for {minutes} minutes, not even the right
  one. A try is stored before it is compared, so that a restart gives none back.
- Phones, browsers and everything else that is no satellite count together, because they can pretend to be any device.

## What is kept of a PIN, and what is not

An input with a PIN is replaced by "{hidden}" before anything else reads it. So the PIN is not in the conversation that
Home Assistant stores and shows, not in its conversation traces (it keeps the last three, and all of them are deleted,
since none can be changed), not in the debug runs of a voice assistant, not in events, scripts, logs or files of
Chatterbox, and no model ever reads it.

An input is redacted in the same conversation, or at the same device:

- **While a question that needs a PIN waits**: any input with as many digits as a PIN, a number above a hundred,
  or little else than numbers. So also "for seven one one" and "4711?", and "wake me at 12:30", which has to be said
  again; not "one moment" or "ten minutes".
- **For {lately} minutes after such a question**, even if it was answered: an input of nothing but a number as long as a
  PIN, a yes or a no, and courtesies. "My PIN is 4711", not "wake me at 12:30". "Ten thirty" could be a PIN or a time
  then: say "at ten thirty", or "half past ten".
- **While a question that needs none waits**: the same, if the agent has a PIN.
- **In the rest of the home**, while a question that needs a PIN waits somewhere: an input that is nothing but a PIN.

In a language that is not in the table above, questions are English, and answers are read as English; any other answer
to a question for the PIN is redacted.

Unless a PIN was asked for, numbers are numbers: "ten thirty" reaches the model.

A PIN that nobody asked for is not redacted: "Unlock the door, my PIN is 4711" is read by the model. Wait for
the question.

Some parts of Home Assistant get your words before an agent does, and cannot be redacted:

- **Speech-to-text** in a cloud: its maker may keep what it hears.
- **The satellite, or the app**, gets the recognized text, and may show it.
- **An administrator** who has the debug page of the conversation open sees the words as they are said. They are gone
  when the page is opened anew.
- **Home Assistant's log** holds them if `homeassistant.components.conversation` or
  `homeassistant.components.assist_pipeline` is set to `debug`.
- **Recordings** hold the sound itself if `debug_recording_dir` of `assist_pipeline` is set.
- **The action `conversation.process`** leaves an event `call_service`, which Home Assistant records, and the trace of
  its automation. Let no automation say a PIN.
- **Sentences and triggers of your own** take words before the agent hears them, but not those that follow a question
  in a conversation that goes on.
"""


def page(measurements: Iterable[Measurement]) -> str:
    """Return the whole page."""
    before = _BEFORE_TABLE.format(most=MAX_WORDS)
    after = _AFTER_TABLE.format(
        shortest=SHORTEST_PIN,
        longest=LONGEST_PIN,
        tries=MAX_TRIES,
        minutes=round(LOCK_SECONDS / 60),
        hidden=REDACTED_PIN,
        lately=round(LATELY.total_seconds() / 60),
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
