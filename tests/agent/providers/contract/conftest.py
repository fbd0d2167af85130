"""Each test of the contract runs over each wire format."""

import pytest

from .dialect import Dialect
from .dialects import DIALECTS


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Give one wire format after the other."""
    chosen: Dialect = request.param
    return chosen
