"""The home of the tests of `tools/`."""

import pytest

from tests.support.llm_apis import KITCHEN


@pytest.fixture
def home_file(request: pytest.FixtureRequest) -> str:
    """Return the text of the module's home, or else of a small one."""
    return str(getattr(request.module, "HOME", KITCHEN))
