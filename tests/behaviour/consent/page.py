"""The page `docs/consent.md`: what counts as a yes, how it was measured, and the table.

Knows the page; must not know how anything is counted.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from custom_components.chatterbox.agent.consent.answers import MAX_WORDS
from custom_components.chatterbox.agent.consent.pin import LONGEST_PIN, SHORTEST_PIN
from custom_components.chatterbox.agent.consent.pin_guard import LOCK_SECONDS, MAX_TRIES
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.turns.pin_redaction import LATELY

from .measurement import Measurement

PAGE = Path(__file__).resolve().parents[3] / "docs" / "consent.md"

_BEFORE_TABLE = """\
# A spoken yes

"Unlock the front door?" What is said next is understood without a model, by lists of words, so that the same answer
always means the same: a plain yes, a plain no, or something else. Only a plain yes is a yes.

## How a question goes

> **You:** unlock the front door<br>
> **Satellite:** Unlock the Front Door in the Hallway?<br>
> **You:** yes, please<br>
> **Satellite:** Come in.

What needs no yes is done at once, and you hear of it before the question. A satellite listens for the answer without
its wake word, and what you say then reaches the agent even where Home Assistant is asked first.

- **A yes** does exactly what was asked, once, before the model says another word. If it would do something else by
  then, because a group has one more lock in it, you are asked again.
- **A no** leaves it, and the model is told.
- **Anything else** drops the question. You hear "OK, I won't do that." before the answer to your new request.
- **Only where it was asked** are the next words an answer: in the same conversation, at the same device, from the same
  user. Yes and no may also come from a phone or an automation; the first answer counts.
- **After a minute** a question has run out, and an answer to it is told that it came too late. None is left after a
  restart.

## What is asked

One question names all that waits for a yes, by what it would do and to which device, not by what was said:

| asked | because |
| --- | --- |
| Unlock the Front Door in the Hallway? | one device, and where it is, unless its name tells |
| Unlock the Front Door and open the Garage Door? | both were asked for at once |
| Unlock the Front Door along with the rest? | "turn everything off" means the lock, too |
| Run Good Night and unlock the Front Door? | the script unlocks it |
| I can't tell everything this would do. Run Movie Night? | the scene cannot be read |
| Unlock the Front Door in the Hallway? Please say the PIN. | the rules want it |

Of many devices, up to five are named and the others counted; of many kinds of deeds, those that let somebody in.
A name is said without emoji, brackets and other marks, and up to 60 characters of it.

## What counts as a yes

| a yes | a no | neither |
| --- | --- | --- |
| Yes. Yeah, go ahead. Sure. Okay. | No. No, thank you. Leave it. Don't. | I guess so. No problem. Thank you. Fine. |
| Yes, unlock it. Yes, the front door, please. | Don't unlock it. Not the front door. | Yes, the garage. Yes, lock it. |
| Yes, right now. | Not yet. Not now. Later. | Yes, in ten minutes. Yes, but not the garage. |
| Yes, yes, yes. | No, cancel. Never mind. | No, wait, yes. Yes, I mean no. |
| | | Yes? He said yes. "Yes". Unlock the front door. |

- **Every word has to be understood**, from the first to the last. What is left over makes it neither. So do more than
  {most} words, a question mark, a quotation mark, a letter of another alphabet, an invisible character, an emoji.
- **Capitals, punctuation and blanks do not matter**: speech recognition sets them as it likes. Nor do accents, where
  nothing else is meant without them: "nao" is "não", but Spanish "si puedes" is "if you can".
- **What is said to a visitor, too, or at the end of a talk**, is a yes only behind one: "adelante", "avanti",
  "proszę bardzo", "varsågod", "fine".
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

The words of each language are a file in `custom_components/chatterbox/agent/consent/languages/`. If you speak one of
them and miss a word, add it to the answers and to the file, and run `script/consent`: it prints the table and writes
this page, and a test holds the page to what is counted. A word belongs there if it agrees to any
question, all alone, and cannot be an exclamation, thanks or hesitation.

## A spoken PIN

"Four seven one one", "47 11", "forty seven eleven", "double seven oh one", and "my PIN is" before it, are understood in
the same languages, alone or with a yes around them: "Yes, unlock the front door, 4711". "Forty seven" is 47; with a
pause, "forty, seven", it is 407. Hundreds and thousands are not understood, nor is anything that could be two PINs,
such as Chinese 四十七十一 or "forty 7": better to be asked again than to lose a try.

- A PIN has {shortest} to {longest} digits. One that anybody would try first is refused: 0000, 1234, 9876, 1212.
- It is kept as a salted hash (scrypt), and compared in constant time. With so few digits, a hash only slows a thief
  down: keep it as you keep a password.
- It is compared only where a question needs it. Said to any other question, to one that has run out, or to none, it is
  compared with nothing.
- After {tries} wrong tries in a row a place is locked for {minutes} minutes, even for the right PIN. A try counts from
  before it is compared; it is stored at once, so that a restart gives none back.
- A place is one agent at one satellite. Phones, browsers, and whatever else is no satellite count together, because
  they can say that they are any device.

## What is kept of a PIN, and what is not

The words in which a PIN was said are taken out of a turn before anybody else reads them; "{hidden}" stands in their
place. So they are not in the conversation that Home Assistant keeps and shows, not in its traces of conversations (it
keeps the last three, and all of them are deleted, as none can be changed), not in the debug runs of a voice assistant,
not in events, scripts, logs of Chatterbox or its files, and no model ever reads them.

Words are taken out in the same conversation, or at the same device:

- **While a question that needs a PIN waits**: all words that hold as many digits as a PIN, a number above a hundred,
  or little else than numbers. So also "for seven one one" and "4711?", and "wake me at 12:30", which has to be said
  again; not "one moment" or "ten minutes".
- **For {lately} minutes after such a question**, also one that was answered: words that are nothing but a number as
  long as a PIN, a yes or a no, and courtesies. "My PIN is 4711", not "wake me at 12:30". Nobody can tell whether
  "ten thirty" is a PIN or a time then: say "at ten thirty", or "half past ten".
- **While a question that needs none waits**: the same, if the agent has a PIN.
- **In the rest of the house**, while a question that needs a PIN waits somewhere: words that are nothing but a PIN.

In a language that is not in the table above, questions are English, and answers are read as English; what is said to a
question for the PIN is taken out, whatever it is.

Where no PIN was ever asked for, numbers are numbers: "ten thirty" reaches the model.

A PIN that nobody asked for is like any other words: "Unlock the door, my PIN is 4711" is read by the model. Wait for
the question.

Some of Home Assistant hears your words before an agent does, and cannot be made to forget them:

- **Speech-to-text** in a cloud: its maker may keep what it hears.
- **The satellite, or the app**, is told what was understood, and may show it.
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
