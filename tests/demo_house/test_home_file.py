"""A home file is read as it is meant, and one that is wrong is refused with the place and the reason."""

import pytest
from pydantic import JsonValue

from custom_components.demo_house.home import HomeFileError, read_home
from custom_components.demo_house.home_appliances import HomeCover, HomeLight

GARAGE = """
floors: [{ id: ground, name: Ground }]
areas: [{ id: garage, name: Garage, floor: ground }]
devices: [{ id: opener, name: Opener, area: garage, info: { model: M, sw_version: 5.235 } }]
entities:
  - id: cover.opener
    name: Opener
    device: opener
    state: false
    attributes:
      device_class: cover.CoverDeviceClass.GARAGE
      supported_features: [cover.CoverEntityFeature.OPEN, close]
  - id: light.opener
    name: Opener Light
    device: opener
    attributes: { color_mode: [onoff], brightness: 3 }
"""


def test_features_and_classes_can_be_written_as_home_assistant_names_them() -> None:
    (cover,) = read_home(GARAGE).entities_of(HomeCover)

    assert (cover.device_class, cover.supported_features) == ("garage", 3)
    assert cover.state is False


def test_a_list_of_one_mode_is_that_mode_and_a_bright_light_is_on() -> None:
    (light,) = read_home(GARAGE).entities_of(HomeLight)

    assert light.color_mode == "onoff"
    assert light.brightness == 3


def test_a_number_may_stand_for_a_text() -> None:
    device = read_home(GARAGE).device("opener")

    assert device is not None
    assert device.info.sw_version == "5.235"


def test_a_setup_replaces_the_state_and_merges_the_attributes() -> None:
    setup: dict[str, JsonValue] = {
        "cover.opener": {"state": "open"},
        "light.opener": {"state": "off", "attributes": {"brightness": 9}},
    }
    home = read_home(GARAGE, setup)
    (cover,) = home.entities_of(HomeCover)
    (light,) = home.entities_of(HomeLight)

    assert (cover.state, cover.device_class) == (True, "garage")
    assert (light.state, light.brightness, light.color_mode) == (False, 9, "onoff")


@pytest.mark.parametrize(
    ("home", "reason"),
    [
        pytest.param("{", "it is not YAML", id="not YAML"),
        pytest.param("[]", "dictionary", id="not a mapping"),
        pytest.param("areas: []", "entities: Field required", id="no entities"),
        pytest.param("entities: []", "at least 1", id="an empty house"),
        pytest.param("entities: [{id: warp.core, name: Core}]", "'warp'", id="unknown kind"),
        pytest.param("entities: [{id: Light, name: A}]", "Light", id="no entity id"),
        pytest.param("entities: [{id: light.a, name: A, colour: red}]", "colour: Extra", id="unknown key"),
        pytest.param(
            "entities: [{id: light.a, name: A, attributes: {brightness: 300}}]", "light.brightness", id="out of range"
        ),
        pytest.param(
            "entities: [{id: light.a, name: A, attributes: {name: B}}]", "name cannot be an attribute", id="name twice"
        ),
        pytest.param(
            "entities: [{id: cover.a, name: A, attributes: {supported_features: [FLY]}}]",
            "'FLY' is no CoverEntityFeature; there are OPEN",
            id="unknown feature",
        ),
        pytest.param(
            "entities: [{id: light.a, name: A}, {id: light.a, name: B}]", "more than one entity light.a", id="id twice"
        ),
        pytest.param("entities: [{id: light.a, name: A, area: moon}]", "light.a is in area moon", id="unknown area"),
        pytest.param("entities: [{id: light.a, name: A, device: d}]", "light.a is in device d", id="unknown device"),
        pytest.param(
            "areas: [{id: a, name: A, floor: f}]\nentities: [{id: light.a, name: A}]",
            "area a is in floor f",
            id="unknown floor",
        ),
        pytest.param(
            "devices: [{id: d, name: Lamp, area: a}]\nentities: [{id: light.a, name: Lamp, device: d}]",
            "device d is in area a",
            id="device in an unknown area",
        ),
        pytest.param(
            "devices: [{id: d, name: Lamp}]\nentities: [{id: light.a, name: Lampion, device: d}]",
            "light.a is called 'Lampion'",
            id="not called after its device",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(home: str, reason: str) -> None:
    with pytest.raises(HomeFileError) as refused:
        read_home(home)

    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("home", "setup", "reason"),
    [
        pytest.param(GARAGE, {"light.moon": {"state": "on"}}, "light.moon", id="unknown entity"),
        pytest.param(GARAGE, {"light.opener": {"colour": "red"}}, "light.opener.colour", id="unknown key"),
        pytest.param(GARAGE, {"light.opener": "on"}, "light.opener", id="not a mapping"),
        pytest.param("[]", {"light.opener": {"state": "on"}}, "dictionary", id="no house to merge into"),
    ],
)
def test_a_wrong_setup_is_refused_with_the_reason(home: str, setup: dict[str, JsonValue], reason: str) -> None:
    with pytest.raises(HomeFileError) as refused:
        read_home(home, setup)

    assert reason in str(refused.value)
