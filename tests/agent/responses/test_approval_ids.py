"""Ids of approval requests name a question and a place in it, and nothing else is taken for one."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.responses.approval_ids import approval_request_id, read_approval_request_id


@given(st.uuids(), st.integers(0, 9_999))
def test_an_id_leads_back_to_its_question(pending: object, index: int) -> None:
    """Invariant 46."""
    pending_id = str(pending).replace("-", "")
    assert read_approval_request_id(approval_request_id(pending_id, index)) == (pending_id, index)


@pytest.mark.parametrize("foreign", ["", "mcpr_", "mcpr_1", "mcpr_a_b", "mcpr_a_-1", "mcpr_a_1 ", "mcpr_a_99999", "x"])
def test_what_is_no_id_of_ours_is_none(foreign: str) -> None:
    """Invariant 46."""
    assert read_approval_request_id(foreign) is None
