"""Ids of responses and items: unique, and the one tells the other."""

import pytest

from custom_components.chatterbox.agent.responses.identifiers import ItemIds, new_response_id, response_of


def test_an_item_tells_its_response() -> None:
    first, second = new_response_id(), new_response_id()
    ids, others = ItemIds(first), ItemIds(second)

    made = [ids("msg"), ids("fc"), others("msg"), *(ids("rs") for _ in range(70_000))]

    assert len(set(made)) == len(made)
    assert {response_of(one) for one in made} == {first, second}
    assert max(map(len, made)) <= 64


@pytest.mark.parametrize(
    "item_id", ["", "msg_mine", "mcpr_0_0", "resp_" + "0" * 32, f"msg_{'g' * 36}", "msg_" + "0" * 35]
)
def test_another_id_tells_nothing(item_id: str) -> None:
    assert response_of(item_id) is None
