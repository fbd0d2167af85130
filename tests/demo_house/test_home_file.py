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


def test_a_list_of_one_mode_is_that_mode_and_a_number_may_stand_for_a_text() -> None:
    home = read_home(GARAGE)
    (light,) = home.entities_of(HomeLight)
    device = home.device("opener")

    assert (light.color_mode, light.brightness) == ("onoff", 3)
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


REFUSED: tuple[tuple[str, dict[str, JsonValue], str], ...] = (
    ("{", {}, "it is not YAML"),
    ("[]", {}, "dictionary"),
    ("areas: []", {}, "entities: Field required"),
    ("entities: []", {}, "at least 1"),
    ("entities: [{id: warp.core, name: Core}]", {}, "'warp'"),
    ("entities: [{id: Light, name: A}]", {}, "Light"),
    ("entities: [{id: light.a, name: A, colour: red}]", {}, "colour: Extra"),
    (
        "entities: [{id: light.a, name: A, attributes: {brightness: 300}}]",
        {},
        "light.brightness",
    ),
    (
        "entities: [{id: light.a, name: A, attributes: {name: B}}]",
        {},
        "name cannot be an attribute",
    ),
    (
        "entities: [{id: cover.a, name: A, attributes: {supported_features: [FLY]}}]",
        {},
        "'FLY' is no CoverEntityFeature; there are OPEN",
    ),
    (
        "entities: [{id: light.a, name: A}, {id: light.a, name: B}]",
        {},
        "more than one entity light.a",
    ),
    ("entities: [{id: light.a, name: A, area: moon}]", {}, "light.a is in area moon"),
    ("entities: [{id: light.a, name: A, device: d}]", {}, "light.a is in device d"),
    (
        "areas: [{id: a, name: A, floor: f}]\nentities: [{id: light.a, name: A}]",
        {},
        "area a is in floor f",
    ),
    (
        "devices: [{id: d, name: Lamp, area: a}]\nentities: [{id: light.a, name: Lamp, device: d}]",
        {},
        "device d is in area a",
    ),
    (
        "devices: [{id: d, name: Lamp}]\nentities: [{id: light.a, name: Lampion, device: d}]",
        {},
        "light.a is called 'Lampion'",
    ),
    (GARAGE, {"light.moon": {"state": "on"}}, "light.moon"),
    (GARAGE, {"light.opener": {"colour": "red"}}, "light.opener.colour"),
    (GARAGE, {"light.opener": "on"}, "light.opener"),
    ("[]", {"light.opener": {"state": "on"}}, "dictionary"),
)


@pytest.mark.parametrize(("home", "setup", "reason"), REFUSED)
def test_a_wrong_file_or_setup_is_refused_with_the_reason(
    home: str, setup: dict[str, JsonValue], reason: str
) -> None:
    with pytest.raises(HomeFileError) as refused:
        read_home(home, setup)

    assert reason in str(refused.value)
