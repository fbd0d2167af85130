"""A server that sends the bytes it is told, piece by piece, and notices when the other side leaves.

Knows just enough HTTP to take one request after the other; must not know what its bytes
mean, so that it can also send what no real server framework would: half a stream, a
broken head, silence.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus

_NO_LINGER = struct.pack("ii", 1, 0)
"""Makes a socket send a reset where it is closed."""


class Ending(Enum):
    """The end of a connection after the last piece."""

    KEEP = auto()
    """The next request may come over the same connection."""
    CLOSE = auto()
    """The connection is closed in good order."""
    RESET = auto()
    """The connection breaks."""
    REPEAT = auto()
    """The last piece is sent again and again until the other side leaves."""
    WAIT = auto()
    """Nothing more is sent until the other side leaves."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """The bytes that are sent for one request."""

    pieces: Sequence[bytes]
    ending: Ending = Ending.CLOSE
    held: Mapping[int, asyncio.Event] = field(default_factory=dict)
    """Pieces that are held back until an event is set, by their place: from 0, or backwards from -1."""
    pause: float = 0.0
    """Seconds after each piece, for a server that is slow."""
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when all pieces are out."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request that came in."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in small letters."""
    body: bytes


def reply(
    body: bytes,
    content_type: str = "application/json",
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> RawReply:
    """Return a whole, well-formed response."""
    lines = {
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    return RawReply([head(status, lines), body], Ending.KEEP)


def event_stream(
    pieces: Sequence[bytes],
    ending: Ending = Ending.KEEP,
    content_type: str = "text/event-stream; charset=utf-8",
) -> RawReply:
    """Return a stream in HTTP chunks, one for each piece; with `KEEP` it has its proper end."""
    chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece]
    last = [b"0\r\n\r\n"] if ending is Ending.KEEP else []
    lines = {"Content-Type": content_type, "Transfer-Encoding": "chunked"}
    return RawReply([head(200, lines), *chunks, *last], ending)


def head(status: int, headers: dict[str, str]) -> bytes:
    """Return status line and headers."""
    phrase = next((known.phrase for known in HTTPStatus if known == status), "Unknown")
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@dataclass(slots=True)
class RawHTTPServer:
    """Sends `replies` in turn, the last one for ever."""

    replies: Sequence[RawReply]
    port: int = 0
    models: RawReply | None = None
    """The reply to requests for the list of models, which are not noted. None: the next reply, as others."""
    requests: list[RawRequest] = field(default_factory=list)
    connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request is in."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the other side leaves a reply that waits or repeats."""

    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve a new connection."""
        self.connections += 1
        self._tasks.add(asyncio.create_task(self._serve(reader, writer)))

    async def end(self) -> None:
        """Wait until all connections are served, which they are once they are closed."""
        await asyncio.gather(*self._tasks)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        async for ending in serve_connection(reader, writer, self._answer):
            if ending in {Ending.REPEAT, Ending.WAIT}:
                self.left.set()

    def _answer(self, request: RawRequest) -> RawReply:
        if (
            self.models
            and request.method == "GET"
            and request.target.endswith("/models")
        ):
            return self.models
        self.requests.append(request)
        self.arrived.set()
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


async def serve_connection(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Callable[[RawRequest], RawReply],
) -> AsyncIterator[Ending]:
    """Take the requests of a connection until a reply ends it, and close it; yield how each reply has ended."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        ending = Ending.KEEP
        while ending is Ending.KEEP:
            ending = await _send(
                answer(await _read_request(reader, writer)), reader, writer
            )
            yield ending
        if ending is Ending.RESET:
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER
            )
            writer.transport.abort()
    writer.close()
    with contextlib.suppress(
        ConnectionError
    ):  # a reset that nothing waits for is logged as an error
        try:
            async with asyncio.timeout(60):
                await writer.wait_closed()
        except TimeoutError:  # the client does not read what is still to be sent
            writer.transport.abort()


async def _send(
    sent: RawReply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Ending:
    for place, piece in enumerate(sent.pieces):
        if held := sent.held.get(place) or sent.held.get(place - len(sent.pieces)):
            await held.wait()
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(sent.pause)
    sent.sent.set()
    with contextlib.suppress(ConnectionError):
        while sent.ending is Ending.REPEAT and not writer.is_closing():
            writer.write(sent.pieces[-1])
            await writer.drain()
            await asyncio.sleep(0)
        if sent.ending is Ending.WAIT:
            await reader.read()
    return sent.ending


async def _read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> RawRequest:
    """Read one request; bytes that are none, such as the beginning of TLS, are refused as real servers do it."""
    first = await reader.readexactly(1)
    if not first.isalpha():
        writer.write(head(400, {"Connection": "close"}))
        raise ConnectionError("no HTTP")
    lines = (first + await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = dict(line.split(": ", 1) for line in lines[1:] if line)
    headers = {name.lower(): value for name, value in headers.items()}
    return RawRequest(
        method,
        target,
        headers,
        await reader.readexactly(int(headers.get("content-length", "0"))),
    )


@contextlib.asynccontextmanager
async def raw_http_server(
    *replies: RawReply, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawHTTPServer]:
    """Serve on a free port of the loopback address until the block is left."""
    state = RawHTTPServer(replies)
    server = await asyncio.start_server(state.accept, "127.0.0.1", 0, ssl=tls)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        server.close_clients()
        await server.wait_closed()
        await state.end()
