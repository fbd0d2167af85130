"""`quality_scale.yaml` answers every rule that the installed Home Assistant knows, in a form that people can trust.

Home Assistant checks the file for its own integrations only, so this does it for ours.
"""

from pathlib import Path

import homeassistant
import yaml
from pydantic import BaseModel, TypeAdapter

import custom_components

_OURS = Path(custom_components.__file__).parent / "chatterbox" / "quality_scale.yaml"
_STATUSES = {"done", "todo", "exempt"}


class _Answer(BaseModel):
    """A rule's status with a word on it."""

    status: str
    comment: str = ""


class _QualityScale(BaseModel):
    """What a `quality_scale.yaml` holds: a bare status, or an answer, for each rule."""

    rules: dict[str, str | _Answer]


def _answers(path: Path) -> dict[str, _Answer]:
    scale = TypeAdapter(_QualityScale).validate_python(yaml.safe_load(path.read_text()))
    return {
        rule: answer if isinstance(answer, _Answer) else _Answer(status=answer) for rule, answer in scale.rules.items()
    }


def test_every_rule_of_home_assistant_is_answered() -> None:
    components = Path(homeassistant.__file__).parent / "components"
    assert set(_answers(_OURS)) == set(_answers(components / "anthropic" / "quality_scale.yaml"))


def test_every_answer_is_a_status_that_home_assistant_knows() -> None:
    assert {answer.status for answer in _answers(_OURS).values()} <= _STATUSES


def test_every_exemption_says_why() -> None:
    silent = {rule for rule, answer in _answers(_OURS).items() if answer.status == "exempt" and not answer.comment}
    assert silent == set()
