"""What waits for the one thread that writes: records to be stored and deeds to be done, in their order.

Knows how much may wait, and what gives way. Knows no thread and no database; who uses the queue holds a lock.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from sqlalchemy import Connection

from .records import Record
from .response_records import ResponseRecord
from .store_state import Acknowledgement, WriterLimits
from .store_trouble import StoreUnavailable


@dataclass(slots=True, eq=False)
class Waiting:
    """A record that is not stored yet."""

    record: Record
    weight: int
    """See `weight_of`."""
    acknowledgement: Acknowledgement = field(default_factory=Acknowledgement)

    def give_up(self, _why: StoreUnavailable) -> None:
        """Say that it never will be."""
        self.acknowledgement.give(stored=False)


@dataclass(slots=True, eq=False)
class Deed:
    """Something to do in its turn, once; if the database cannot be used then, it is not done."""

    work: Callable[[Connection], int]
    after: Callable[[], None]
    answer: Future[int] = field(default_factory=Future)

    def give_up(self, why: StoreUnavailable) -> None:
        """Say why it is not done."""
        self.answer.set_exception(why)


type WriterQueue = deque[Waiting | Deed]


def put(queue: WriterQueue, waiting: Waiting) -> Acknowledgement:
    """Put a record at the end, or a response in place of an earlier state of it that waits. Return what tells of it.

    What was to be done between the two holds for the earlier one only.
    """
    if isinstance(waiting.record, ResponseRecord) and (earlier := _earlier(queue, waiting.record)):
        earlier.record, earlier.weight = waiting.record, waiting.weight
        return earlier.acknowledgement
    queue.append(waiting)
    return waiting.acknowledgement


def too_much(queue: Iterable[Waiting | Deed], limits: WriterLimits) -> list[Waiting]:
    """Return what has to give way, that the rest is within the limits.

    Responses go first, because each may be as heavy as hundreds of turns, and what was said and done in the house
    matters more; of each, the oldest.
    """
    waiting = [one for one in queue if isinstance(one, Waiting)]
    count, weight = len(waiting), sum([one.weight for one in waiting])
    if count <= limits.records and weight <= limits.bytes:  # as nearly always
        return []
    gone: list[Waiting] = []
    leaving = sorted(waiting, key=lambda one: not isinstance(one.record, ResponseRecord))
    while count > limits.records or weight > limits.bytes:
        one = leaving[len(gone)]
        count, weight = count - 1, weight - one.weight
        gone.append(one)
    return gone


def _earlier(queue: WriterQueue, record: ResponseRecord) -> Waiting | None:
    for one in reversed(queue):
        if isinstance(one, Deed):
            return None
        if isinstance(one.record, ResponseRecord) and one.record.id == record.id:
            return one
    return None
