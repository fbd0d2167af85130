"""The workflows of GitHub run fixed code, with few permissions, and no text from outside as shell."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, Field, JsonValue

import custom_components

_REPOSITORY = Path(custom_components.__file__).parents[1]
_PINNED = re.compile(r"^ +- uses: [\w./-]+@[0-9a-f]{40} # \S+$")
_VERSION = json.loads(
    (_REPOSITORY / "custom_components/chatterbox/manifest.json").read_text("utf-8")
)["version"]


class _Step(BaseModel):
    uses: str = ""
    run: str = ""
    options: dict[str, JsonValue] = Field({}, alias="with")


class _Job(BaseModel):
    condition: str = Field("", alias="if")
    needs: tuple[str, ...] | str = ()
    permissions: dict[str, str] = {}
    steps: tuple[_Step, ...]


class _Workflow(BaseModel):
    permissions: dict[str, str]
    """Without any, a workflow may do what the settings of the repository allow."""
    jobs: dict[str, _Job]


_TEXTS = {
    path.stem: path.read_text("utf-8")
    for path in (_REPOSITORY / ".github" / "workflows").glob("*.yml")
}
_WORKFLOWS = {
    name: _Workflow.model_validate(yaml.safe_load(text))
    for name, text in _TEXTS.items()
}
_WRITERS = {"release": ["archive"], "docs": ["publish"]}
"""The jobs that may write, by workflow."""
_STEPS = [
    step
    for workflow in _WORKFLOWS.values()
    for job in workflow.jobs.values()
    for step in job.steps
]


def test_every_action_is_pinned_by_digest_and_tells_its_tag() -> None:
    used = [
        line
        for text in _TEXTS.values()
        for line in text.splitlines()
        if "uses:" in line
    ]
    assert len(used) > len(_WORKFLOWS)
    assert [line for line in used if not _PINNED.match(line)] == []


def test_only_a_release_and_the_site_may_write() -> None:
    for name, workflow in _WORKFLOWS.items():
        assert workflow.permissions in ({}, {"contents": "read"}), name
        granted = {
            job: rights.permissions
            for job, rights in workflow.jobs.items()
            if rights.permissions
        }
        assert granted == {job: {"contents": "write"} for job in _WRITERS.get(name, ())}


def test_a_checkout_leaves_no_token_behind_and_no_expression_is_shell() -> None:
    checkouts = [
        step.options.get("persist-credentials")
        for step in _STEPS
        if "actions/checkout@" in step.uses
    ]
    assert checkouts == [False] * sum(
        len(workflow.jobs) for workflow in _WORKFLOWS.values()
    )
    assert [step.run for step in _STEPS if "${{" in step.run] == []


def test_nothing_is_published_before_both_home_assistants_are_tested() -> None:
    jobs = _WORKFLOWS["release"].jobs
    needed = jobs["archive"].needs
    runs = [step.run for name in needed for step in jobs[name].steps if step.run]
    assert {"script/test --thorough", "script/test oldest"} <= {*runs}


def test_the_thorough_tests_run_each_night() -> None:
    triggers = yaml.safe_load(_TEXTS["test"])[True]  # how YAML reads `on`
    nightly = [
        step.run
        for job in _WORKFLOWS["test"].jobs.values()
        if job.condition == "github.event_name == 'schedule'"
        for step in job.steps
        if step.run
    ]
    assert [one["cron"].split()[2:] for one in triggers["schedule"]] == [["*"] * 3]
    assert nightly == ["script/test --thorough"]


def test_holes_are_reported_in_private_and_bugs_with_diagnostics() -> None:
    private = "https://github.com/chatterbox-voice/chatterbox/security/advisories/new"
    folder = _REPOSITORY / ".github"
    forms = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in (folder / "ISSUE_TEMPLATE").glob("*.yml")
    }
    fields = {part.get("id"): part for part in forms["bug"]["body"]}

    assert private in (folder / "SECURITY.md").read_text("utf-8")
    assert private in [one["url"] for one in forms["config"]["contact_links"]]
    assert not forms["config"]["blank_issues_enabled"]
    assert fields["diagnostics"]["validations"] == {"required": True}
    assert {"bug", "feature", "config"} == forms.keys()
    for name in ("bug", "feature"):
        assert forms[name].keys() == {"name", "description", "labels", "body"}
        for part in forms[name]["body"]:
            kinds = {"markdown", "textarea", "input", "dropdown"}
            assert part["type"] in kinds
            key = "value" if part["type"] == "markdown" else "label"
            assert part["attributes"][key]


@pytest.mark.parametrize(
    ("tag", "is_accepted"),
    [
        (_VERSION, True),
        (f"v{_VERSION}", True),
        (f"{_VERSION}1", False),
        ("$(id)", False),
    ],
)
def test_a_release_is_refused_whose_tag_is_not_the_version(
    tag: str, *, is_accepted: bool
) -> None:
    compare, pack, publish = (
        step.run for step in _WORKFLOWS["release"].jobs["archive"].steps if step.run
    )
    shell = ["/bin/bash", "-e", "-c", compare]
    done = subprocess.run(
        shell, cwd=_REPOSITORY, env={"TAG": tag, "PATH": "/usr/bin:/bin"}, check=False
    )
    assert (done.returncode == 0) is is_accepted
    assert "script/release --archive" in pack
    create, upload, edit = publish.strip().splitlines()
    assert "gh release create" in create
    assert "--draft" in create, (
        "HACS offers what is published, with its archive or without"
    )
    assert "gh release upload" in upload
    assert "--draft=false" in edit
