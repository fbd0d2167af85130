"""Lists are returned in pages."""

import pytest

from custom_components.chatterbox.agent.messages import (
    JsonValue,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from tests.responses.protocol.backend_double import (
    ANNA,
)
from tests.responses.protocol.service_talk import (
    ask,
    objects,
    serving,
)
from tests.support.doubles import say


async def test_input_is_paged() -> None:
    _, service = serving(say("Hello."))
    sent: JsonValue = [
        {"role": "user", "content": str(number), "id": f"m{number}"}
        for number in range(5)
    ]
    response_id = str((await ask(service, sent))["id"])

    async def page(
        **query: str,
    ) -> tuple[list[JsonValue], JsonValue, JsonValue, JsonValue]:
        listed = await service.input_items(response_id, ANNA, query)
        assert listed["object"] == "list"
        ids = [item["id"] for item in objects(listed["data"])]
        return ids, listed["first_id"], listed["last_id"], listed["has_more"]

    assert await page() == (["m4", "m3", "m2", "m1", "m0"], "m4", "m0", False)
    assert await page(limit="2", order="asc") == (["m0", "m1"], "m0", "m1", True)
    assert await page(limit="2", order="asc", after="m1") == (
        ["m2", "m3"],
        "m2",
        "m3",
        True,
    )
    assert await page(limit="2", after="m1") == (["m0"], "m0", "m0", False)
    assert await page(after="m0", order="desc") == ([], None, None, False)
    assert (await page(limit="100"))[3] is False


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "²"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "nobody"}, "after"),
    ],
)
async def test_a_page_that_there_cannot_be_is_refused(
    query: dict[str, str], param: str
) -> None:
    _, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError) as refused:
        await service.input_items(response_id, ANNA, query)
    assert (refused.value.status, refused.value.param) == (400, param)
