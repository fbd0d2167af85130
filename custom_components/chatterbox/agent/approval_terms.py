"""What a yes is to: the terms of several askers as one text, and whether a yes still covers what is asked now.

Pure. Reads nothing into the terms, which are each asker's own; only compares them.
"""

from collections.abc import Iterable


def join_terms(terms: Iterable[str]) -> str:
    """Write terms as one text, each on a line of its own; empty ones and repetitions are left out.

    Two lists of terms have the same text only if they hold the same terms in the same order.
    """
    return "\n".join(dict.fromkeys(_line(one) for one in terms if one))


def covers(asked: str, now: str) -> bool:
    """Tell whether a yes to what was `asked` is one to all that is asked `now`; both as `join_terms` writes them.

    Who had something to ask then and nothing now is content.
    """
    return set(now.split("\n")) <= {"", *asked.split("\n")}


def _line(terms: str) -> str:
    return terms.replace("\\", "\\\\").replace("\n", "\\n")
