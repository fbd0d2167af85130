"""A home that tests use one after the other, and how it is put in order between them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, JsonValue, RootModel

from demo.web_api import HomeAssistantClient

_ASSISTANTS = "assist_pipeline/pipeline"
_ENTRIES = "/api/config/config_entries/entry"


class _Ignored(RootModel[JsonValue]):
    """An answer that says nothing but that it was done."""


class _Entry(BaseModel):
    entry_id: str
    domain: str


class _Pipelines(BaseModel):
    pipelines: tuple[dict[str, JsonValue], ...]
    preferred_pipeline: str


@dataclass(frozen=True, slots=True)
class SharedHome:
    """A running Home Assistant with the demo house, its owner, and no assistant but the built-in one."""

    url: str
    log: Path
    token: str
    """Signs a client of its API in."""
    browser_tokens: str
    """The storage of a browser in which the owner has signed in."""


@dataclass(frozen=True, slots=True)
class Furniture:
    """The contents of a home before a test."""

    entries: tuple[_Entry, ...]
    assistants: _Pipelines

    @classmethod
    async def of(cls, client: HomeAssistantClient) -> Self:
        """Look at the home."""
        entries = await client.command("config_entries/get", tuple[_Entry, ...])
        return cls(entries, await client.command(f"{_ASSISTANTS}/list", _Pipelines))

    async def restore(self, client: HomeAssistantClient) -> None:
        """Remove what was added since, and have every device and setting be as it was."""
        await client.command("config/core/update", _Ignored, language="en")
        now = await Furniture.of(client)
        for entry in now.entries:
            if entry not in self.entries:
                await client.delete(f"{_ENTRIES}/{entry.entry_id}", _Ignored)
            elif entry.domain == "demo_house":
                await client.post(f"{_ENTRIES}/{entry.entry_id}/reload", {}, _Ignored)
        for pipeline in self.assistants.pipelines:
            settings = {name: value for name, value in pipeline.items() if name != "id"}
            await client.command(
                f"{_ASSISTANTS}/update",
                _Ignored,
                pipeline_id=pipeline["id"],
                **settings,
            )
        await client.command(
            f"{_ASSISTANTS}/set_preferred",
            _Ignored,
            pipeline_id=self.assistants.preferred_pipeline,
        )
        known = {pipeline["id"] for pipeline in self.assistants.pipelines}
        left = await client.command(
            f"{_ASSISTANTS}/list", _Pipelines
        )  # those made for an agent went with its entry
        for pipeline in left.pipelines:
            if pipeline["id"] not in known:
                await client.command(
                    f"{_ASSISTANTS}/delete", _Ignored, pipeline_id=pipeline["id"]
                )
