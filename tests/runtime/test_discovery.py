"""Where model servers are looked for."""

from dataclasses import dataclass

from homeassistant.components.hassio.const import DATA_ADDONS_INFO
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.runtime.discovery import addresses_of_apps, usual_addresses


@dataclass
class App:
    """What the supervisor says of an app, as far as it is read."""

    hostname: str
    state: str = "started"
    supervisor_api: bool = False
    supervisor_role: str = "default"

    def to_dict(self) -> dict[str, str]:
        return {"hostname": self.hostname}


def test_usual_places_are_on_this_machine(hass: HomeAssistant) -> None:
    assert usual_addresses(hass) == [f"http://localhost:{port}" for port in (11434, 8080, 1234, 8000)]


def test_without_a_supervisor_there_are_no_apps(hass: HomeAssistant) -> None:
    assert addresses_of_apps(hass) == []
    hass.config.components.add("hassio")
    assert addresses_of_apps(hass) == []


def test_running_apps_with_a_model_server_are_looked_at(hass: HomeAssistant) -> None:
    hass.config.components.add("hassio")
    apps = {
        "76e18fb5_ollama": App("76e18fb5-ollama"),
        "local_llama_cpp": App("local-llama-cpp"),
        "local_vllm": App("local-vllm", state="stopped"),
        "core_mosquitto": App("core-mosquitto"),
        "a0d7b954_ollama": None,
    }
    hass.data[str(DATA_ADDONS_INFO)] = apps

    assert addresses_of_apps(hass) == ["http://76e18fb5-ollama:11434", "http://local-llama-cpp:8080"]
