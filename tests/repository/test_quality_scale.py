"""`quality_scale.yaml` answers every rule that the installed Home Assistant knows, each with its proof.

Home Assistant checks the file for its own integrations only, so this does it for ours.
"""

import re
from pathlib import Path
from typing import Final

import homeassistant
import pytest
import yaml

import custom_components

_REPOSITORY: Final = Path(custom_components.__file__).parents[1]
_PRODUCT: Final = "custom_components/chatterbox"
_OURS: Final = _REPOSITORY / _PRODUCT / "quality_scale.yaml"
_THEIRS: Final = (
    Path(homeassistant.__file__).parent
    / "components"
    / "anthropic"
    / "quality_scale.yaml"
)
_FLOW: Final = "tests/config_flow"
_ANSWERS: Final = "tests/actions/test_answers.py"
_CHAINS: Final = "tests/agent/providers/failover/test_failover.py"
_ERRORS: Final = f"{_FLOW}/test_errors.py"
_TASKS: Final = "tests/ai_task/test_ai_task.py"
_HERE: Final = "tests/repository"
_SELF: Final = f"{_HERE}/test_quality_scale.py"
PROOFS: Final = {
    # Bronze
    "action-setup": f"{_ANSWERS}::test_the_actions_are_there_without_any_entry_and_after_one_is_gone",
    "appropriate-polling": "tests/runtime/test_health.py::test_no_model_is_asked_once_its_entry_is_unloaded",
    "brands": f"{_HERE}/test_manifest.py::test_image_has_the_size_that_home_assistant_shows",
    "common-modules": f"{_PRODUCT}/entity.py: class AgentDeviceEntity(",
    "config-flow": f"{_FLOW}/test_config_flow.py::test_a_server_is_added_with_the_model_that_was_chosen",
    "config-flow-test-coverage": f"{_ERRORS}::test_after_a_wrong_address_the_right_one_works_and_the_key_is_kept",
    "dependency-transparency": f"{_HERE}/test_manifest.py::test_requirement_admits_what_home_assistant_pins",
    "docs-actions": f"{_HERE}/test_reference_pages.py",
    "docs-high-level-description": "docs/index.md#chatterbox",
    "docs-installation-instructions": "docs/start.md#install-and-set-up",
    "docs-removal-instructions": "docs/start.md#remove-chatterbox",
    "entity-event-setup": f"{_PRODUCT}/sensor.py: async def async_added_to_hass(",
    "entity-unique-id": "tests/test_entity.py::test_an_agent_is_a_service_device",
    "has-entity-name": "tests/test_entity.py::test_an_agent_is_a_service_device",
    "runtime-data": f"{_PRODUCT}/__init__.py: entry.runtime_data = ",
    "test-before-configure": f"{_ERRORS}::test_an_address_where_nothing_answers_is_an_error",
    "test-before-setup": "tests/test_init.py::test_a_service_that_is_down_is_tried_again",
    "unique-config-entry": f"{_FLOW}/test_config_flow.py::test_the_same_server_with_the_same_key_is_set_up_once",
    # Silver
    "action-exceptions": "tests/actions/test_ask.py::test_a_failed_model_is_reported_by_its_error",
    "config-entry-unloading": "tests/test_init.py::test_a_removed_entry_leaves_nothing_and_may_be_added_again",
    "docs-configuration-parameters": "docs/settings.md#advanced",
    "docs-installation-parameters": "docs/start.md#an-internet-service",
    "entity-unavailable": f"{_TASKS}::test_a_model_that_does_not_answer_is_unavailable_until_it_does",
    "integration-owner": f'{_PRODUCT}/manifest.json: "codeowners": ["@',
    "log-when-unavailable": f"{_CHAINS}::test_the_log_tells_what_is_new_once",
    "parallel-updates": f"{_SELF}::test_every_platform_says_how_many_updates_run_at_once",
    "reauthentication-flow": f"{_FLOW}/test_interfaces.py::test_a_new_key_is_tried_over_the_interface_of_its_service",
    "test-coverage": "script/test: --fail-under 95",
    # Gold
    "devices": "tests/test_entity.py::test_an_agent_is_a_service_device",
    "diagnostics": "tests/test_diagnostics.py::test_diagnostics_hold_the_set_up_and_no_secret",
    "docs-data-update": "docs/troubleshooting.md#when-a-model-does-not-answer",
    "docs-examples": "docs/recipes.md#use-an-example",
    "docs-known-limitations": "docs/troubleshooting.md#known-limits",
    "docs-supported-functions": "docs/talking.md#talk",
    "docs-troubleshooting": "docs/troubleshooting.md#by-symptom",
    "docs-use-cases": "docs/recipes.md#which-way-fits",
    "entity-category": f"{_PRODUCT}/sensor.py: EntityCategory.DIAGNOSTIC",
    "entity-device-class": f"{_PRODUCT}/sensor.py: SensorDeviceClass.",
    "entity-disabled-by-default": "tests/test_sensor.py::test_seven_entities_of_an_agent_are_enabled_at_first",
    "entity-translations": f"{_HERE}/test_hassfest.py::test_every_entity_has_an_icon_that_its_state_may_change",
    "exception-translations": f"{_HERE}/test_translations.py::test_every_error_has_its_texts",
    "icon-translations": f"{_HERE}/test_hassfest.py::test_every_entity_has_an_icon_that_its_state_may_change",
    "reconfiguration-flow": f"{_FLOW}/test_changes.py::test_an_address_can_be_changed_and_the_agents_stay",
    "repair-issues": f"{_HERE}/test_hassfest.py::test_every_issue_says_what_to_do",
    # Platinum
    "async-dependency": f"{_SELF}::test_nothing_blocks_the_event_loop_on_its_way_out",
    "inject-websession": f"{_PRODUCT}/runtime/composition.py: async_get_clientsession(hass)",
    "strict-typing": "pyproject.toml: strict = true",
}
"""A test (`file::name`), a section of a page (`file#slug`), part of a file (`file: text`) or a whole file, by rule."""


def _answers() -> dict[str, tuple[str, str]]:
    """Return the status and the comment of each rule."""
    return {
        rule: (answer, "")
        if isinstance(answer, str)
        else (answer["status"], answer.get("comment", ""))
        for rule, answer in yaml.safe_load(_OURS.read_text())["rules"].items()
    }


def test_every_rule_of_home_assistant_is_done_with_a_proof_or_exempt_with_a_reason() -> (
    None
):
    answers = _answers()
    assert set(answers) == set(yaml.safe_load(_THEIRS.read_text())["rules"])
    assert {status for status, _ in answers.values()} == {"done", "exempt"}
    assert [
        rule
        for rule, (status, why) in answers.items()
        if status == "exempt" and not why
    ] == []
    done = {rule for rule, (status, _) in answers.items() if status == "done"}
    assert done == PROOFS.keys()


@pytest.mark.parametrize("rule", PROOFS)
def test_a_proof_is_there(rule: str) -> None:
    file, mark, part = re.split(r"(::|#|: |$)", PROOFS[rule], maxsplit=1)
    text = (_REPOSITORY / file).read_text("utf-8")
    match mark:
        case "::":
            assert f"def {part}(" in text
        case "#":
            headings = re.findall(r"^#+ (.+)$", text.lower(), re.MULTILINE)
            slugs = (re.sub(r"[^\w\s-]", "", heading) for heading in headings)
            assert part in {slug.replace(" ", "-") for slug in slugs}
        case _:
            assert part in text


def test_every_platform_says_how_many_updates_run_at_once() -> None:
    for name in ("ai_task", "conversation", "sensor", "todo"):
        module = (_REPOSITORY / _PRODUCT / f"{name}.py").read_text("utf-8")
        assert "\nPARALLEL_UPDATES = 0\n" in module, name


def test_nothing_blocks_the_event_loop_on_its_way_out() -> None:
    blocking = re.compile(
        r"^\s*(?:import|from) (?:requests|urllib3|urllib\.request|http\.client|httpx|socket)\b",
        re.MULTILINE,
    )
    modules = (_REPOSITORY / _PRODUCT).rglob("*.py")
    assert [path.name for path in modules if blocking.search(path.read_text())] == []
