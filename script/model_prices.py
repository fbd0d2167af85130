"""Writes custom_components/chatterbox/usage/prices.json: what known models cost and how much they can read.

Run by `script/prices`, in an environment that holds the package `genai-prices`. What it
writes is a snapshot of today: the text models of the services below, without those that
their service calls deprecated. Where a price depends on the hour, the dearest is taken.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    ModelInfo,
    ModelPrice,
    Provider,
    TieredPrices,
    TimeOfDateConstraint,
)

HOSTS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("api.anthropic.com",),
    "cerebras": ("api.cerebras.ai",),
    "cohere": ("api.cohere.ai", "api.cohere.com"),
    "deepseek": ("api.deepseek.com",),
    "fireworks": ("api.fireworks.ai",),
    "google": ("generativelanguage.googleapis.com",),
    "groq": ("api.groq.com",),
    "minimax": ("api.minimax.io",),
    "mistral": ("api.mistral.ai",),
    "moonshotai": ("api.moonshot.ai",),
    "openai": ("api.openai.com",),
    "openrouter": ("openrouter.ai",),
    "perplexity": ("api.perplexity.ai",),
    "together": ("api.together.ai", "api.together.xyz"),
    "x-ai": ("api.x.ai",),
    "zai": ("api.z.ai",),
}
PARTS = {"input": "input_mtok", "cached": "cache_read_mtok", "output": "output_mtok"}
TIERS = ("flex", "priority")
NO_CHAT = re.compile(
    r"audio|embed|image|live|moderation|ocr|realtime|rerank|robotics|speech|transcribe|tts|voxtral|whisper|guard|"
    r"computer-use|text-davinci|^(ada|babbage|curie|davinci|claude-v?[12])\b"
)
FREE = {"names": ["*:free"], "input": 0, "cached": 0, "output": 0}
NOW = datetime.now(tz=UTC)


def pattern_of(clause: Any) -> Iterator[str]:
    """Yield what names a model: a name, perhaps with a star at one end or both, or a regular expression in slashes."""
    match clause:
        case ClauseEquals(name):
            yield name.lower()
        case ClauseStartsWith(start):
            yield f"{start.lower()}*"
        case ClauseEndsWith(end):
            yield f"*{end.lower()}"
        case ClauseContains(part):
            yield f"*{part.lower()}*"
        case ClauseRegex(regex):
            yield f"/{regex}/"
        case ClauseOr(parts):
            for part in parts:
                yield from pattern_of(part)
        case ClauseAnd(parts):
            looks = "".join(
                f"(?=.*?{regex_of(pattern)})"
                for part in parts
                for pattern in pattern_of(part)
            )
            yield f"/^{looks}/"


def regex_of(pattern: str) -> str:
    """Return a pattern as a regular expression that is searched for from the beginning of a name."""
    if pattern.startswith("/"):
        return pattern[1:-1]
    return f"^{re.escape(pattern).replace(r'\*', '.*')}$"


def prices_of(model: ModelInfo) -> ModelPrice:
    """Return the prices that hold today, at the dearest hour."""
    prices = [model.get_prices(NOW)]
    if not isinstance(model.prices, ModelPrice):
        prices += [
            one.prices
            for one in model.prices
            if isinstance(one.constraint, TimeOfDateConstraint)
        ]
    return max(prices, key=lambda one: base(one.input_mtok) or 0)


def base(price: Decimal | TieredPrices | None) -> float | None:
    """Return what is paid for a million tokens of a short prompt."""
    number = price.base if isinstance(price, TieredPrices) else price
    return None if number is None else plain(number)


def plain(number: Decimal) -> float | int:
    """Return a number as JSON writes it shortest."""
    return int(number) if number == int(number) else float(number)


def as_row(prices: ModelPrice) -> dict[str, Any]:
    """Return prices as they are written, those of longer prompts included."""
    row = {
        part: found
        for part, name in PARTS.items()
        if (found := base(getattr(prices, name))) is not None
    }
    tiered = {
        part: price
        for part, name in PARTS.items()
        if isinstance(price := getattr(prices, name), TieredPrices)
    }
    if row.get("cached", 0) > row.get("input", 0):
        del row["cached"]  # nobody charges for keeping
    starts = sorted({tier.start for price in tiered.values() for tier in price.tiers})
    if starts:
        row["longer"] = [
            {"than": start}
            | {
                part: plain(
                    max(
                        (tier for tier in price.tiers if tier.start <= start),
                        key=lambda tier: tier.start,
                    ).price
                )
                for part, price in tiered.items()
                if price.tiers[0].start <= start
            }
            for start in starts
        ]
    return row


def tier_factors(model: ModelInfo) -> dict[str, float]:
    """Return how many times as much service tiers cost at the same hour, for those that do not cost the same."""
    usual = as_row(model.get_prices(NOW))
    factors = {}
    for tier in TIERS:
        row = as_row(model.get_prices(NOW, {"service_tier": tier}))
        factors[tier] = max(
            row[part] / usual[part] for part in PARTS if usual.get(part)
        )
    return {tier: round(factor, 4) for tier, factor in factors.items() if factor != 1}


def row_of(model: ModelInfo) -> dict[str, Any]:
    """Return what is known of a model."""
    row = {"names": list(dict.fromkeys(pattern_of(model.match)))} | as_row(
        prices_of(model)
    )
    if model.context_window:
        row["window"] = model.context_window
    if factors := tier_factors(model):
        row["tiers"] = factors
    return row


def is_wanted(provider: Provider, model: ModelInfo) -> bool:
    """Return whether somebody may talk with a model today."""
    prices = prices_of(model)
    if (
        model.deprecated
        or NO_CHAT.search(model.id)
        or prices.input_mtok is None
        or prices.output_mtok is None
    ):
        return False
    # OpenRouter keeps what it has long since taken down; of what it has, it tells the
    # window.
    return provider.id != "openrouter" or (
        model.context_window is not None and not model.id.endswith(":free")
    )


def fits(row: Mapping[str, Any], name: str) -> bool:
    """Return whether a name is one of a row."""
    return any(re.search(regex_of(pattern), name) for pattern in row["names"])


def rows_of(provider: Provider) -> list[dict[str, Any]]:
    """Return the models of a service, so that the first that fits a name is the right one."""
    wanted = [model for model in provider.models if is_wanted(provider, model)]
    rows = [row_of(model) for model in wanted]
    remaining = {id(model) for model in wanted}
    # What is left out must not be taken for something else.
    for model in provider.models:
        if id(model) not in remaining and any(
            fits(row, model.id.lower()) for row in rows
        ):
            remaining.add(id(model))
    ordered = [model for model in provider.models if id(model) in remaining]
    content = [row_of(model) for model in ordered if not model.id.endswith(":free")]
    return [FREE, *content] if provider.id == "openrouter" else content


def main() -> None:
    """Write the file."""
    package = metadata.distribution("genai-prices")
    licence = next(
        file for file in package.files or () if file.name == "LICENSE"
    ).read_text()
    services = [
        (HOSTS[one.id], rows_of(one))
        for one in sorted(providers, key=lambda one: one.id)
        if one.id in HOSTS
    ]
    lines = ",\n".join(
        f'{{"hosts":{dumped(hosts)},"models":[\n'
        + ",\n".join(map(dumped, rows))
        + "\n]}"
        for hosts, rows in services
    )
    head = {
        "source": f"genai-prices {package.version}",
        "licence": licence,
        "date": NOW.date().isoformat(),
    }
    path = Path(sys.argv[1])
    path.write_text(
        f'{dumped(head)[:-1]},\n"services":[\n{lines}\n]}}\n', encoding="utf-8"
    )
    print(
        f"{path}: {sum(len(rows) for _, rows in services)} models, {path.stat().st_size:,} bytes"
    )


def dumped(value: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


main()
