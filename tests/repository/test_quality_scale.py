"""`quality_scale.yaml` answers every rule that the installed Home Assistant knows, in a form that people can trust.

Home Assistant checks the file for its own integrations only, so this does it for ours.
"""

from pathlib import Path

import homeassistant
import yaml

import custom_components

_OURS = Path(custom_components.__file__).parent / "chatterbox" / "quality_scale.yaml"
_THEIRS = (
    Path(homeassistant.__file__).parent
    / "components"
    / "anthropic"
    / "quality_scale.yaml"
)


def test_every_rule_of_home_assistant_is_answered_and_every_exemption_says_why() -> (
    None
):
    answers = yaml.safe_load(_OURS.read_text())["rules"]
    assert set(answers) == set(yaml.safe_load(_THEIRS.read_text())["rules"])
    for rule, answer in answers.items():
        status, comment = (
            (answer, "")
            if isinstance(answer, str)
            else (answer["status"], answer.get("comment", ""))
        )
        assert status in {"done", "todo", "exempt"}, rule
        assert comment or status != "exempt", rule
