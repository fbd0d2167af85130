"""The one thread that writes: takes records from anywhere at once, stores them in batches, tries again while it cannot.

Knows what waits, how much may, and when to try again. Must not know tables or what is in a record. Who hands it
something never waits, and never gets an error: what cannot be stored is told by the state and by acknowledgements.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from .database import Database
from .records import Record, weight_of
from .response_records import ResponseRecord
from .store_state import Acknowledgement, StoreState, WriterLimits
from .store_trouble import StoreUnavailable, Trouble
from .stored_rows import insert_records
from .turn_records import AuditRecord, TurnRecord
from .writer_queue import Deed, Waiting, WriterQueue, put, too_much

_LOGGER = logging.getLogger(__name__)

_MOST_AT_ONCE: Final = 200
"""Records of one transaction."""


class HistoryWriter:
    """Writes everything that is stored, in the order in which it came."""

    def __init__(self, database: Database, on_state: Callable[[StoreState], None], limits: WriterLimits) -> None:
        """Prepare; `on_state` is called in the writer's thread whenever the state has changed, but for what waits."""
        self._database = database
        self._on_state = on_state
        self._limits = limits
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        """Only the thread that writes waits for it."""
        self._queue: WriterQueue = deque()
        self._in_hand: list[Waiting] = []
        self._left: tuple[Record, ...] = ()
        """What was not stored in the end."""
        self._is_closing = False
        self._is_closed = False
        self._is_hurried = False
        self._is_urgent = False
        """Whether more waits than audit records, which may wait for their turn."""
        self._state = StoreState()
        self._told = self._state
        self._thread = threading.Thread(target=self._run, name="chatterbox-history", daemon=True)

    def start(self) -> None:
        """Begin to write; what was handed in before is waiting."""
        self._thread.start()

    def close(self, patience: float) -> tuple[Record, ...]:
        """Store what waits, if that can be done at once, and end. Waits at most `patience` seconds.

        Returns what could not be stored.
        """
        with self._lock:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(patience)
        with self._lock:
            return self._left or tuple(one.record for one in self._records())

    @property
    def state(self) -> StoreState:
        """How it is now."""
        with self._lock:
            return replace(self._state, waiting=len(self._records()))

    @property
    def is_down(self) -> bool:
        """Whether the database could not be used last."""
        return self._state.trouble is not None

    def record(self, record: Record) -> Acknowledgement:
        """Have a record stored."""
        waiting = Waiting(record, weight_of(record))
        with self._lock:
            if self._is_closed:
                self._drop(waiting)
                return waiting.acknowledgement
            acknowledgement = put(self._queue, waiting)
            self._keep_within_bounds()
            self._is_urgent = self._is_urgent or not isinstance(record, AuditRecord)
            if self._is_urgent or len(self._queue) == 1:  # else it knows that something gathers
                self._changed.notify()
        return acknowledgement

    def do(self, work: Callable[[Connection], int], after: Callable[[], None]) -> Future[int]:
        """Have something done after what is waiting now is stored, and `after` it in no transaction.

        The answer is what `work` returns, or StoreUnavailable: then it was not done, and will not be.
        """
        deed = Deed(work, after)
        deed.answer.set_running_or_notify_cancel()
        with self._lock:
            if self._is_closed:
                deed.answer.set_exception(_closed())
            else:
                self._queue.append(deed)
                self._is_hurried = self._is_urgent = True
                self._changed.notify()
        return deed.answer

    def waiting_turns(self) -> tuple[TurnRecord, ...]:
        """Return the turns that are not stored yet, in their order."""
        return tuple(record for record in self._waiting_records() if isinstance(record, TurnRecord))

    def waiting_responses(self) -> tuple[ResponseRecord, ...]:
        """Return the responses that are not stored yet, in their order; one may be there in two states."""
        return tuple(record for record in self._waiting_records() if isinstance(record, ResponseRecord))

    def _waiting_records(self) -> tuple[Record, ...]:
        with self._lock:
            return tuple(one.record for one in self._records())

    def _run(self) -> None:
        pause, is_last = self._limits.first_pause, False
        self._attempt(())
        self._tell()
        while (batch := self._next_batch()) is not None:
            is_last = self._is_closing
            if self._attempt(batch):
                pause = self._limits.first_pause
                self._tell()
            elif is_last:
                break
            else:
                self._tell()
                self._rest(pause)
                pause = min(pause * 2, self._limits.longest_pause)
        self._give_up()
        self._database.close()
        self._tell()

    def _next_batch(self) -> tuple[Waiting, ...] | Deed | None:
        """Wait for something to do; None at the end. While the store is down, looking whether it is up is something."""
        with self._lock:
            self._changed.wait_for(lambda: self._queue or self._is_closing or self.is_down)
            self._changed.wait_for(lambda: self._is_urgent or self._is_closing or self.is_down, self._limits.gathering)
            if self._is_closing and not self._queue:
                return None
            while self._queue and len(self._in_hand) < _MOST_AT_ONCE:
                first = self._queue[0]
                if isinstance(first, Deed):
                    if self._in_hand:
                        break
                    self._queue.popleft()
                    self._is_urgent = bool(self._queue)
                    return first
                self._queue.popleft()
                self._in_hand.append(first)
            self._is_urgent = bool(self._queue)
            return tuple(self._in_hand)

    def _attempt(self, batch: tuple[Waiting, ...] | Deed) -> bool:
        """Do what is to be done. Return whether the database could be used."""
        try:
            if isinstance(batch, Deed):
                self._do(batch)
            else:
                self._store(batch)
        except StoreUnavailable as err:
            self._database.close()
            aside = self._database.put_aside() if err.trouble is Trouble.CORRUPT else None
            with self._lock:
                self._state = replace(self._state, trouble=err.trouble, message=str(err))
                if aside is not None:
                    self._state = replace(self._state, put_aside=str(aside))
                for one in self._queue:
                    if isinstance(one, Deed):
                        one.give_up(err)
                left = self._records()
                self._queue = deque[Waiting | Deed](left)
                self._in_hand.clear()
                self._keep_within_bounds()
            return False
        with self._lock:
            self._in_hand.clear()
            if self._state.trouble is not None:
                self._state = replace(self._state, trouble=None, message="")
        return True

    def _do(self, deed: Deed) -> None:
        try:
            with self._database.begin(writes=True) as connection:
                done = deed.work(connection)
        except Exception as err:  # whatever it is, it belongs to who asked, and the thread goes on
            deed.answer.set_exception(err)
            if isinstance(err, StoreUnavailable):
                raise
        else:
            deed.after()
            deed.answer.set_result(done)

    def _store(self, batch: tuple[Waiting, ...], *, are_new: bool = True) -> None:
        """Store records, all of them in one transaction; when one is refused, each new one in its own."""
        try:
            with self._database.begin(writes=True) as connection:
                insert_records(connection, [one.record for one in batch], are_new=are_new)
        except StoreUnavailable:
            raise
        except Exception as err:  # noqa: BLE001  # whatever is wrong with a record, the others are stored
            if are_new:  # nearly always they are
                self._store(batch, are_new=False)
                return
            if len(batch) != 1:
                for one in batch:
                    self._store((one,), are_new=False)
                return
            # The text of the error may quote what was said.
            _LOGGER.error("A record could not be stored, and is dropped (%s)", type(err).__name__)  # noqa: TRY400
            with self._lock:
                self._drop(batch[0])
        else:
            for one in batch:
                one.acknowledgement.give(stored=True)

    def _rest(self, pause: float) -> None:
        with self._lock:
            self._changed.wait_for(lambda: self._is_closing or self._is_hurried, pause)
            self._is_hurried = False

    def _give_up(self) -> None:
        """Answer everybody who still waits: the end has come."""
        with self._lock:
            self._is_closed = True
            self._left = tuple(one.record for one in self._records())
            self._state = replace(self._state, dropped=self._state.dropped + len(self._left))
            for one in self._queue:
                one.give_up(_closed())
            self._queue.clear()
            if self._state.trouble is None:
                self._state = replace(self._state, trouble=Trouble.CLOSED, message=str(_closed()))

    def _records(self) -> list[Waiting]:
        """Return what is not stored yet; of a batch, what was acknowledged is."""
        in_hand = [one for one in self._in_hand if not one.acknowledgement.given]
        return in_hand + [one for one in self._queue if isinstance(one, Waiting)]

    def _keep_within_bounds(self) -> None:
        for one in too_much(self._queue, self._limits):
            self._queue.remove(one)
            self._drop(one)

    def _drop(self, waiting: Waiting) -> None:
        self._state = replace(self._state, dropped=self._state.dropped + 1)
        waiting.acknowledgement.give(stored=False)

    def _tell(self) -> None:
        """Tell how it is, if that is news."""
        if self._state != self._told:  # none of them counts what waits
            self._told = self._state
            try:
                self._on_state(self.state)
            except Exception:
                _LOGGER.exception("Whoever watches the history failed")


def _closed() -> StoreUnavailable:
    return StoreUnavailable(Trouble.CLOSED, "The history is closed.")
