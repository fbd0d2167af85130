"""A hook of mkdocs: URLs that leave `docs/` lead to GitHub, and the search prefers the pages of users.

Source: https://www.mkdocs.org/user-guide/configuration/#hooks
"""

import posixpath
import re
from typing import Final, Protocol

_FOR_DEVELOPERS: Final = {
    "architecture",
    "extending",
    "glossary",
    "library",
    "performance",
    "responses-api-reference",
}
_URL: Final = re.compile(r"\]\((\.\./[^)\s]*)\)")


class Config(Protocol):
    """The part of the configuration of the site that is needed."""

    repo_url: str


class SourceFile(Protocol):
    """The part of the file of a page that is needed."""

    src_uri: str


class Page(Protocol):
    """The part of a page that is needed."""

    file: SourceFile
    meta: dict[str, object]


def on_page_markdown(
    markdown: str,
    /,
    *,
    page: Page,
    config: Config,
    files: object,  # noqa: ARG001  # by name
) -> str:
    """Return the text of a page with URLs that work on the site."""
    if page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"exclude": True}
    elif page.file.src_uri.removesuffix(".md") in _FOR_DEVELOPERS:
        page.meta["search"] = {"boost": 0.2}
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def on_github(url: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, url[1]))
        return (
            url[0]
            if path.startswith("docs/")
            else f"]({config.repo_url.rstrip('/')}/blob/main/{path})"
        )

    return _URL.sub(on_github, markdown)
