"""A server that searches the web as SearXNG and Brave do: it finds what it is given, and keeps what it was asked."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO

from aiohttp import web

from tests.support.servers.in_process import serving


def page(url: str, title: str = "", content: str = "") -> Mapping[str, object]:
    """Return a page as SearXNG sends it."""
    return {
        "url": url,
        "title": title,
        "content": content,
        "engine": "brave",
        "score": 1.0,
        "category": "general",
        "publishedDate": None,
    }


@dataclass
class SearchEngine:
    """The server."""

    pages: Sequence[Mapping[str, object]] = ()
    status: int = 200
    body: str = ""
    """Sent in place of the pages, as a web page."""
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: object = None
    """Sent in place of the pages, as JSON."""
    queries: list[Mapping[str, str]] = field(default_factory=list)
    """The parameters of each request."""
    sent: list[Mapping[str, str]] = field(default_factory=list)
    """Its headers."""

    async def _search(self, request: web.Request) -> web.Response:
        self.queries.append(dict(request.query))
        self.sent.append(dict(request.headers))
        if self.body or self.status != 200:  # a status of HTTP
            return web.Response(
                status=self.status,
                body=BytesIO(self.body.encode()),
                content_type="text/html",
                headers=self.headers,
            )
        found = self.answer or {"query": request.query["q"], "results": [*self.pages]}
        return web.json_response(text=json.dumps(found))

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Serve until the block is left; yields the address that a person would enter."""
        application = web.Application()
        for path in ("/search", "/llm/context"):
            application.router.add_get(path, self._search)
        async with serving(application, "") as address:
            yield address
