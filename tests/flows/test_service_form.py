"""The form of a service names servers and interfaces as people know them."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_SERVER,
    ServiceKind,
)
from custom_components.chatterbox.flows.service_form import INTERFACES, title_of
from tests.support.sentences import sentence
from tests.support.service_dialogs import (
    choose_internet,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_the_services_that_people_use_are_offered_by_name(
    hass: HomeAssistant,
) -> None:
    step = await choose_internet(hass)

    schema = step["data_schema"]
    assert schema is not None
    names = [option["label"] for option in schema.schema[CONF_SERVER].config["options"]]
    assert names[:2] == ["OpenAI", "Anthropic"]
    assert "Google Gemini" in names
    assert "Ollama" not in names
    assert step["description_placeholders"]
    pages = step["description_placeholders"]["key_pages"].split(" · ")
    assert [page.partition("]")[0].removeprefix("[") for page in pages] == names
    assert "[OpenAI](https://platform.openai.com/api-keys)" in pages


@pytest.mark.parametrize(
    ("service", "title"),
    [
        ({CONF_SERVER: "openai", CONF_BASE_URL: "https://api.openai.com/v1"}, "OpenAI"),
        (
            {CONF_SERVER: "openai", CONF_BASE_URL: "https://gateway.example/v1"},
            "OpenAI on gateway.example",
        ),
        (
            {CONF_SERVER: "ollama", CONF_BASE_URL: "http://192.168.1.10:11434"},
            "Ollama on 192.168.1.10",
        ),
        (
            {CONF_SERVER: "ollama", CONF_BASE_URL: "http://shelf:8123"},
            "Ollama on shelf:8123",
        ),
        ({CONF_BASE_URL: "https://api.mistral.ai/v1"}, "Mistral"),
        ({CONF_BASE_URL: "http://[fd00::1]:8080/v1"}, "[fd00::1]:8080"),
        ({CONF_BASE_URL: "http://box:8080/qwen/v1"}, "box:8080/qwen"),
        (
            {CONF_SERVER: "ollama", CONF_BASE_URL: "http://shelf:11434/two/"},
            "Ollama on shelf/two",
        ),
    ],
)
def test_a_service_is_named_after_its_kind_and_place(
    service: dict[str, str], title: str
) -> None:
    assert title_of(service, {"service_title": "{server} on {place}"}) == title


@pytest.mark.parametrize("kind", INTERFACES)
def test_an_interface_is_chosen_by_the_name_that_errors_call_it(
    kind: ServiceKind,
) -> None:
    assert sentence(f"selector.interface.options.{kind}").startswith(
        f"{INTERFACES[kind]} ("
    )
