"""The thread that writes to the database: it takes records from any thread, stores them in batches, and retries.

Callers never wait and never get an error; acknowledgements and the state of the store
tell what became of a record.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final

from sqlalchemy import Connection

from .database import Database
from .records import (
    Acknowledgement,
    Record,
    ResponseRecord,
    StoreState,
    StoreUnavailable,
    Trouble,
    WriterLimits,
    weight_of,
)
from .rows import insert_record

_LOGGER = logging.getLogger(__name__)

_BATCH_SIZE: Final = 200
"""Records of one transaction."""


def nothing() -> None:
    """Do nothing after a job."""


@dataclass(slots=True, eq=False)
class _Pending:
    """A record that is not stored yet."""

    record: Record
    weight: int
    acknowledgement: Acknowledgement = field(default_factory=Acknowledgement)

    def give_up(self, _reason: StoreUnavailable) -> None:
        """Report that it will not be stored."""
        self.acknowledgement.give(stored=False)


@dataclass(slots=True, eq=False)
class _Job:
    """Work that is done once, in its turn; or not at all, if the database cannot be used then."""

    work: Callable[[Connection], int]
    after: Callable[[], None]
    then: Callable[[], object]
    answer: Future[int] = field(default_factory=Future)

    def give_up(self, reason: StoreUnavailable) -> None:
        """Report that it will not be done."""
        self.answer.set_exception(reason)


class HistoryWriter:
    """Writes records and does jobs in the order in which they arrive."""

    def __init__(
        self,
        database: Database,
        on_state: Callable[[StoreState], None],
        limits: WriterLimits,
    ) -> None:
        """Prepare the thread; it calls `on_state` when the state changes, except for the number of waiting records."""
        self._database = database
        self._on_state = on_state
        self._limits = limits
        self._changed = threading.Condition()
        """Guards everything below; only the thread waits for it."""
        self._queue = deque[_Pending | _Job]()
        self._batch: list[_Pending] = []
        """Records that are being written."""
        self._left: tuple[Record, ...] = ()
        self._is_closing = False
        self._is_closed = False
        self._state = StoreState()
        self._reported = self._state
        self._thread = threading.Thread(
            target=self._run, name="chatterbox-history", daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self, seconds: float) -> tuple[Record, ...]:
        """Store the waiting records, if the database can be used, and end. Return those that were not stored."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(seconds)
        with self._changed:
            return self._left or tuple(one.record for one in self._pending())

    @property
    def state(self) -> StoreState:
        """The current state."""
        with self._changed:
            return replace(
                self._state,
                waiting=len(self._pending()),
            )

    def record(self, record: Record) -> Acknowledgement:
        """Store a record. A response replaces an earlier state of it that waits."""
        new = _Pending(record, weight_of(record))
        with self._changed:
            if self._is_closed:
                self._drop(new)
                return new.acknowledgement
            earlier = self._earlier(record)
            if earlier:
                earlier.record = new.record
                earlier.weight = new.weight
                new = earlier
            else:
                self._queue.append(new)
            self._drop_too_much()
            self._changed.notify()
        return new.acknowledgement

    def do(
        self,
        work: Callable[[Connection], int],
        after: Callable[[], None] = nothing,
        then: Callable[[], object] = nothing,
    ) -> Future[int]:
        """Do `work` in a transaction, after all records that wait now, and `after` without one.

        The result is that of `work`, or StoreUnavailable if it was not done. `then`
        runs after the result is set.
        """
        job = _Job(
            work,
            after,
            then,
        )
        job.answer.set_running_or_notify_cancel()
        with self._changed:
            if self._is_closed:
                job.answer.set_exception(_closed())
            else:
                self._queue.append(job)
                self._changed.notify()
        return job.answer

    def waiting[T: Record](
        self,
        kind: type[T],
    ) -> tuple[T, ...]:
        """Return the records of a kind that are not stored yet, in their order; a response may have two states."""
        with self._changed:
            return tuple(
                one.record for one in self._pending() if isinstance(one.record, kind)
            )

    def _run(self) -> None:
        pause = self._limits.first_pause
        self._attempt(())
        self._report()
        while (work := self._next()) is not None:
            is_last = self._is_closing
            if self._attempt(work):
                pause = self._limits.first_pause
                self._report()
            elif is_last:
                break
            else:
                self._report()
                self._rest(pause)
                pause = min(pause * 2, self._limits.longest_pause)
        self._give_up()
        self._database.close()
        self._report()

    def _next(self) -> tuple[_Pending, ...] | _Job | None:
        """Wait for a batch or a job; None at the end. While the store is down, an empty batch tries to open it."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._queue or self._is_closing or self._state.trouble
            )
            if self._is_closing and not self._queue:
                return None
            while self._queue and len(self._batch) < _BATCH_SIZE:
                if self._batch and isinstance(self._queue[0], _Job):
                    break
                first = self._queue.popleft()
                if isinstance(first, _Job):
                    return first
                self._batch.append(first)
            return tuple(self._batch)

    def _attempt(self, work: tuple[_Pending, ...] | _Job) -> bool:
        """Store a batch or do a job. Return whether the database could be used."""
        try:
            if isinstance(work, _Job):
                self._do(work)
            else:
                self._store(work)
        except StoreUnavailable as err:
            self._database.close()
            aside: object = None
            if err.trouble is Trouble.CORRUPT:
                aside = self._database.put_aside()
            with self._changed:
                self._state = replace(
                    self._state,
                    trouble=err.trouble,
                    message=str(err),
                    put_aside=str(aside or self._state.put_aside),
                )
                for one in self._queue:
                    if isinstance(one, _Job):
                        one.give_up(err)
                self._queue = deque[_Pending | _Job](self._pending())
                self._batch.clear()
                self._drop_too_much()
            return False
        with self._changed:
            self._batch.clear()
            self._state = replace(
                self._state,
                trouble=None,
                message="",
            )
        return True

    def _do(self, job: _Job) -> None:
        try:
            with self._database.begin(writes=True) as connection:
                done = job.work(connection)
        except Exception as err:  # it belongs to the caller, and the thread goes on
            job.answer.set_exception(err)
            if isinstance(err, StoreUnavailable):
                raise
        else:
            job.after()
            job.answer.set_result(done)
            job.then()

    def _store(self, batch: tuple[_Pending, ...]) -> None:
        """Store records in one transaction; if one of them is refused, each in its own."""
        try:
            with self._database.begin(writes=True) as connection:
                for one in batch:
                    insert_record(connection, one.record)
        except StoreUnavailable:
            raise
        except Exception as err:  # noqa: BLE001  # one record must not cost the others
            if len(batch) > 1:
                for one in batch:
                    self._store((one,))
                return
            # The text of the error may quote the record.
            _LOGGER.error(  # noqa: TRY400
                "A record cannot be stored and is dropped (%s)", type(err).__name__
            )
            with self._changed:
                self._drop(batch[0])
        else:
            for one in batch:
                one.acknowledgement.give(stored=True)

    def _rest(self, pause: float) -> None:
        """Pause between retries; a job ends it."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_closing
                    or any(isinstance(one, _Job) for one in self._queue)
                ),
                pause,
            )

    def _give_up(self) -> None:
        """Give up everything that still waits."""
        with self._changed:
            self._is_closed = True
            self._left = tuple(one.record for one in self._pending())
            self._state = replace(
                self._state, dropped=self._state.dropped + len(self._left)
            )
            for one in self._queue:
                one.give_up(_closed())
            self._queue.clear()
            if self._state.trouble is None:
                self._state = replace(
                    self._state, trouble=Trouble.CLOSED, message=str(_closed())
                )

    def _earlier(self, record: Record) -> _Pending | None:
        """Return the earlier state of a response, of the same time, that waits behind the last job."""
        for one in reversed(self._queue):
            if isinstance(one, _Job) or not isinstance(record, ResponseRecord):
                return None
            if isinstance(one.record, ResponseRecord) and one.record.id == record.id:
                if one.record.created_at == record.created_at:
                    return one
                return None
        return None

    def _pending(self) -> list[_Pending]:
        """Return the records that are not stored yet."""
        batch = [one for one in self._batch if not one.acknowledgement.given]
        return batch + [one for one in self._queue if isinstance(one, _Pending)]

    def _drop_too_much(self) -> None:
        """Drop what exceeds the limits: responses, which may be as heavy as hundreds of turns, before others."""
        waiting = [one for one in self._queue if isinstance(one, _Pending)]
        count = len(waiting)
        weight = sum(one.weight for one in waiting)
        leaving = iter(
            sorted(
                waiting,
                key=lambda one: not isinstance(one.record, ResponseRecord),
            )
        )
        while count > self._limits.records or weight > self._limits.bytes:
            one = next(leaving)
            count = count - 1
            weight = weight - one.weight
            self._queue.remove(one)
            self._drop(one)

    def _drop(self, pending: _Pending) -> None:
        self._state = replace(
            self._state,
            dropped=self._state.dropped + 1,
        )
        pending.acknowledgement.give(stored=False)

    def _report(self) -> None:
        """Report the state if it has changed."""
        if self._state != self._reported:
            self._reported = self._state
            try:
                self._on_state(self.state)
            except Exception:
                _LOGGER.exception("The observer of the history failed")


def _closed() -> StoreUnavailable:
    return StoreUnavailable(Trouble.CLOSED, "The history is closed.")
