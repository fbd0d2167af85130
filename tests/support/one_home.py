"""Tables of cases that leave a home as it is, and so share one: to set it up takes longer than most of them.

The devices of the demo home can be put back after each case, as if each had a home of its own.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import Parameter, signature

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms

type HomeTest = Callable[..., Awaitable[None]]

_OWN = ("request", "subtests")
"""Fixtures of each of these tests."""


def in_one_home(
    names: str | tuple[str, ...],
    rows: Iterable[object],
    *,
    ids: Iterable[object] = (),
    share: int = 1,
    puts_back: bool = False,
) -> Callable[[HomeTest], HomeTest]:
    """Have a test go through all rows in one home, where `pytest.mark.parametrize` would set one up for each.

    A row that fails is named, and keeps no other from being tried. The quick run takes
    one of `share` rows, where they are many cases of few kinds. With `puts_back`, the
    devices of the demo home are put back after each row.
    """
    keys = (names,) if isinstance(names, str) else names
    cases = [
        dict(
            zip(
                keys,
                row if isinstance(row, tuple) and len(keys) > 1 else [row],
                strict=True,
            )
        )
        for row in rows
    ]
    titles = [*map(str, ids)] or [*map(str, cases)]

    def decorate(test: HomeTest) -> HomeTest:
        async def each(
            request: pytest.FixtureRequest,
            subtests: pytest.Subtests,
            **fixtures: object,
        ) -> None:
            step = 1 if request.config.option.thorough else share
            devices = _devices(request.getfixturevalue("hass")) if puts_back else []
            for title, case in [*zip(titles, cases, strict=True)][::step]:
                with subtests.test(title):
                    await test(**fixtures, **case)
                for device, fields in devices:
                    _put_back(device, fields)

        taken = [
            one.replace(kind=Parameter.KEYWORD_ONLY)
            for name, one in signature(test).parameters.items()
            if name not in keys
        ]
        own = [Parameter(name, Parameter.KEYWORD_ONLY) for name in _OWN]
        visible = signature(test).replace(parameters=[*own, *taken])
        vars(each).update(
            __name__=test.__name__, __doc__=test.__doc__, __signature__=visible
        )
        return each

    return decorate


def _devices(hass: HomeAssistant) -> list[tuple[Entity, dict[str, object]]]:
    """Return the devices of the demo home with their fields."""
    return [
        (device, _copied(vars(device)))
        for platform in async_get_platforms(hass, "demo_house")
        for device in platform.entities.values()
    ]


def _copied(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields of a device, whose lists may be changed."""
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }


def _put_back(device: Entity, fields: Mapping[str, object]) -> None:
    if _copied(vars(device)) != fields:
        vars(device).clear()
        vars(device).update(_copied(fields))
        device.async_write_ha_state()
