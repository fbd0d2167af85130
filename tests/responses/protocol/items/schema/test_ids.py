"""Ids of responses, items and approval requests: unique, and each leads back to what it names."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.responses.protocol.items.schema import (
    approval_request_id,
    item_ids,
    new_response_id,
    read_approval_request_id,
    response_of,
)


def test_an_item_tells_its_response() -> None:
    first, second = new_response_id(), new_response_id()
    ids, others = item_ids(first), item_ids(second)

    made = [ids("msg"), ids("fc"), others("msg"), *(ids("rs") for _ in range(70_000))]

    assert len(set(made)) == len(made)
    assert {response_of(one) for one in made} == {first, second}
    assert max(map(len, made)) <= 64


@pytest.mark.parametrize(
    "item_id",
    [
        "",
        "msg_mine",
        "mcpr_0_0",
        "resp_" + "0" * 32,
        f"msg_{'g' * 36}",
        "msg_" + "0" * 35,
    ],
)
def test_another_id_tells_nothing(item_id: str) -> None:
    assert response_of(item_id) is None


@given(st.uuids(), st.integers(0, 9_999))
def test_an_id_leads_back_to_its_question(pending: object, index: int) -> None:
    """Invariant 46."""
    pending_id = str(pending).replace("-", "")
    assert read_approval_request_id(approval_request_id(pending_id, index)) == (
        pending_id,
        index,
    )


@pytest.mark.parametrize(
    "foreign",
    ["", "mcpr_", "mcpr_1", "mcpr_a_b", "mcpr_a_-1", "mcpr_a_1 ", "mcpr_a_99999", "x"],
)
def test_what_is_no_id_of_ours_is_none(foreign: str) -> None:
    """Invariant 46."""
    assert read_approval_request_id(foreign) is None
