"""The command line of the demo: what a person may ask for, and what does not go together.

Knows the options; must not know how any of them is done.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from demo.home import ChatCompletionsServer
from demo.log_file import LOG_FOLDER
from demo.translated import ENGLISH, languages

API_KEY_VARIABLE = "CHATTERBOX_API_KEY"
"""The environment variable that may hold the key: other users of a machine can read a command line."""

_DESCRIPTION = """\
Starts a real Home Assistant with a demo house whose voice assistant is Chatterbox, and prints the address of its page:
open it and talk to a model whose answers are written beforehand, or to Home Assistant's own understanding. --show plays
what is special without a browser; --say runs sentences of yours, without a model unless --base-url names one or
--scripted asks for the written answers. The scripted model has a camera to look through and a web to search.

Every run starts the same house afresh; whatever you change in it is gone with Ctrl-C. The page and the house can be
reached from this machine only, and whoever uses this machine is signed in as the owner. Without --base-url nothing
leaves this machine."""

_EPILOG = """\
examples:
  script/demo
  script/demo --show
  script/demo --say "turn on the kitchen lights" --say "turn them off again" --state light.kitchen_ceiling
  script/demo --language de --say "mach das Licht in der Küche an"
  script/demo --say "unlock the front door" --say "yes" --state lock.front_door
  script/demo --scripted --say "is anyone in the garden?"
  script/demo --base-url http://127.0.0.1:8080/v1 --model my-model --say "is anything still on upstairs?"

exit codes: 0 done, 1 it could not be done (the reason is printed), 2 the command line is wrong, 130 stopped by Ctrl-C
while sentences were still to be said"""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The requested options."""

    sentences: tuple[str, ...]
    states: tuple[str, ...]
    shows: bool
    """Whether the scenes of `demo/show.py` are to be played."""
    evaluates: int
    """Number of requests with which the model is tried; 0 for none."""
    as_json: bool
    server: ChatCompletionsServer | None
    scripted: bool
    """Whether sentences are said to the scripted model."""
    language: str
    """The language of the home and its assistant."""
    port: int | None
    log: Path | None
    """Where Home Assistant's log is to go; None for a file of the run's own."""

    @property
    def has_scripted_model(self) -> bool:
        """Whether the scripted model answers: where asked for, or where neither another one nor a sentence is given."""
        return self.scripted or (
            self.server is None
            and (self.shows or self.evaluates > 0 or not self.sentences)
        )


def read_arguments(arguments: Sequence[str]) -> DemoOptions:
    """Return what `arguments` ask for; print what is wrong with them and exit with code 2 otherwise."""
    parser = _parser()
    parsed = parser.parse_args(arguments, namespace=_Arguments())
    if (problem := _problem(parsed)) is not None:
        parser.error(problem)
    key = (
        parsed.api_key
        if parsed.api_key is not None
        else os.environ.get(API_KEY_VARIABLE) or None
    )
    server = (
        ChatCompletionsServer(parsed.base_url, parsed.model, key)
        if parsed.base_url is not None
        else None
    )
    return DemoOptions(
        sentences=tuple(parsed.say),
        states=tuple(parsed.state),
        shows=parsed.show,
        evaluates=parsed.evaluate,
        as_json=parsed.json,
        server=server,
        scripted=parsed.scripted,
        language=parsed.language,
        port=parsed.port,
        log=None if parsed.log is None else parsed.log.absolute(),
    )


class _Arguments(argparse.Namespace):
    say: list[str]
    state: list[str]
    show: bool
    evaluate: int
    json: bool
    scripted: bool
    base_url: str | None
    model: str | None
    api_key: str | None
    language: str
    port: int | None
    log: Path | None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/demo",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    talk = parser.add_argument_group("without a browser")
    talk.add_argument(
        "--show",
        action="store_true",
        help="eight scenes with a scripted model, and what each would cost",
    )
    talk.add_argument(
        "--say",
        metavar="TEXT",
        action="append",
        default=[],
        help="a sentence; repeat it to go on",
    )
    talk.add_argument(
        "--evaluate",
        metavar="REQUESTS",
        type=int,
        nargs="?",
        const=40,
        default=0,
        help="try the model with so many requests about the house (40), and print how many answers are right",
    )
    talk.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per turn, then one per --state",
    )
    talk.add_argument(
        "--state",
        metavar="ENTITY_ID",
        action="append",
        default=[],
        help="print this state at the end, once what is planned for the next 10 seconds is done; repeatable",
    )
    model = parser.add_argument_group(
        "with a model, instead of Home Assistant's own offline understanding"
    )
    model.add_argument(
        "--scripted",
        action="store_true",
        help="the scripted model, which knows the sentences that script/demo prints",
    )
    model.add_argument(
        "--base-url",
        metavar="URL",
        help="a Chat Completions server, such as http://127.0.0.1:8080/v1",
    )
    model.add_argument(
        "--model",
        metavar="NAME",
        help="its model; may be left out when the server has only one",
    )
    model.add_argument(
        "--api-key",
        metavar="KEY",
        help=f"its key, when it asks for one; other users of this machine can see it here: {API_KEY_VARIABLE} in the "
        "environment hides it from them",
    )
    parser.add_argument(
        "--language",
        choices=languages(),
        default=ENGLISH,
        help="the language of the home, of its names and of what is said; the default is en",
    )
    parser.add_argument(
        "--port", type=int, help="the port of the page; default: any free one"
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help=f"Home Assistant's own log; default: a file in {LOG_FOLDER}, which no other run is writing",
    )
    return parser


def _problem(parsed: _Arguments) -> str | None:
    """Return what does not go together, in words."""
    return next((words for is_so, words in _problems(parsed) if is_so), None)


def _problems(parsed: _Arguments) -> Iterator[tuple[bool, str]]:
    """Yield what may not go together, and whether it is so."""
    says = bool(parsed.say or parsed.state)
    has_server = parsed.base_url is not None
    yield (
        parsed.show and (says or has_server),
        "--show has its own sentences and model: leave out --say, --state and --base-url",
    )
    yield (
        bool(parsed.evaluate) and (says or parsed.show),
        "--evaluate has its own sentences: leave out --say, --state and --show",
    )
    yield (
        not (parsed.say or parsed.show or parsed.evaluate)
        and bool(parsed.json or parsed.state),
        "--json and --state tell about sentences: add --say TEXT",
    )
    yield (
        any(not sentence.strip() for sentence in parsed.say),
        "--say needs a sentence, not an empty text",
    )
    yield (
        parsed.scripted and has_server,
        "--scripted and --base-url each name a model: leave one out",
    )
    yield (
        not has_server and (parsed.model is not None or parsed.api_key is not None),
        "--model and --api-key need a server: add --base-url URL",
    )
    yield (
        # It is not repeated: it may hold a password.
        parsed.base_url is not None and not _is_web_address(parsed.base_url),
        "what --base-url names is not a web address; it looks like http://127.0.0.1:8080/v1",
    )
    yield (
        parsed.port is not None and not 1 <= parsed.port <= 65535,  # noqa: PLR2004 - the range of TCP ports
        "--port must be between 1 and 65535",
    )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
