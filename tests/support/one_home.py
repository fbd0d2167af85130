"""Tables of cases that leave a home as it is, and so share one: to set it up takes longer than most of them."""

from collections.abc import Awaitable, Callable, Collection, Iterable
from inspect import Parameter, signature

import pytest

type HomeTest = Callable[..., Awaitable[None]]


def in_one_home(
    names: str | tuple[str, ...], rows: Collection[object], *, ids: Iterable[str] = ()
) -> Callable[[HomeTest], HomeTest]:
    """Have a test go through all rows in one home, where `pytest.mark.parametrize` would set one up for each.

    A row that fails is named, and keeps no other from being tried.
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
    titles = [*ids] or [*map(str, cases)]

    def decorate(test: HomeTest) -> HomeTest:
        async def each(subtests: pytest.Subtests, **fixtures: object) -> None:
            for title, case in zip(titles, cases, strict=True):
                with subtests.test(title):
                    await test(**fixtures, **case)

        taken = [
            one for name, one in signature(test).parameters.items() if name not in keys
        ]
        taken = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in taken]
        visible = signature(test).replace(
            parameters=[Parameter("subtests", Parameter.KEYWORD_ONLY), *taken]
        )
        vars(each).update(
            __name__=test.__name__, __doc__=test.__doc__, __signature__=visible
        )
        return each

    return decorate
