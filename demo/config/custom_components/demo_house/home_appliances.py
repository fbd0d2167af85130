"""The fields of a home file for entities that switch, move, heat, play and clean.

Knows the attributes of Home Assistant's entity platforms; must not know how an entity
behaves: that is the part of the platform module. In the file, what is not the same for
all kinds stands under `attributes:`.
"""

from typing import Annotated, Literal

from homeassistant.components.climate import HVACMode
from homeassistant.components.cover import CoverDeviceClass, CoverEntityFeature
from homeassistant.components.fan import FanEntityFeature
from homeassistant.components.light import ColorMode, LightEntityFeature
from homeassistant.components.lock import LockEntityFeature, LockState
from homeassistant.components.media_player import (
    MediaPlayerDeviceClass,
    MediaPlayerEntityFeature,
    MediaPlayerState,
)
from homeassistant.components.switch import SwitchDeviceClass
from homeassistant.components.vacuum import VacuumActivity, VacuumEntityFeature
from homeassistant.components.valve import ValveDeviceClass, ValveEntityFeature
from homeassistant.const import UnitOfTemperature
from pydantic import BeforeValidator, Field

from .fields import IsOpen, Named, Percentage, Written, features_of
from .home_entity import HomeEntity


class HomeClimate(HomeEntity):
    """A thermostat or an air conditioner; temperatures are in `temperature_unit`."""

    state: Named[HVACMode] = HVACMode.OFF
    hvac_modes: tuple[Named[HVACMode], ...] = (HVACMode.OFF, HVACMode.HEAT)
    temperature_unit: UnitOfTemperature = UnitOfTemperature.CELSIUS
    current_temperature: float | None = None
    target_temperature: float | None = None
    target_temperature_low: float | None = None
    target_temperature_high: float | None = None
    target_temperature_step: float | None = None
    min_temp: float = 7
    max_temp: float = 35
    current_humidity: Percentage | None = None
    target_humidity: Percentage | None = None
    fan_mode: str | None = None
    fan_modes: tuple[str, ...] = ()
    preset_mode: str | None = None
    preset_modes: tuple[str, ...] = ()


class HomeCover(HomeEntity):
    """A garage door, a curtain or blinds; positions are 0 (closed) to 100 (open)."""

    state: IsOpen = False
    device_class: Named[CoverDeviceClass] | None = None
    supported_features: Annotated[
        CoverEntityFeature, features_of(CoverEntityFeature)
    ] = CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE
    current_position: Percentage | None = None
    current_tilt_position: Percentage | None = None


class HomeFan(HomeEntity):
    """A fan; `percentage` is its speed when it is on."""

    state: bool = False
    supported_features: Annotated[FanEntityFeature, features_of(FanEntityFeature)] = (
        FanEntityFeature(0)
    )
    percentage: Percentage | None = None
    speed_count: int = 100
    oscillating: bool = False
    direction: Literal["forward", "reverse"] = "forward"
    preset_mode: str | None = None
    preset_modes: tuple[str, ...] = ()


class HomeLight(HomeEntity):
    """A light; without a state it is on when its brightness says so."""

    state: bool | None = None
    supported_color_modes: frozenset[Named[ColorMode]] = frozenset({ColorMode.ONOFF})
    color_mode: Named[ColorMode] | None = None
    supported_features: Annotated[
        LightEntityFeature, features_of(LightEntityFeature)
    ] = LightEntityFeature(0)
    brightness: Annotated[int, Field(ge=0, le=255)] | None = None
    color_temp_kelvin: int | None = None
    min_color_temp_kelvin: int = 2000
    max_color_temp_kelvin: int = 6535
    hs_color: tuple[float, float] | None = None
    xy_color: tuple[float, float] | None = None
    rgb_color: tuple[int, int, int] | None = None
    rgbw_color: tuple[int, int, int, int] | None = None
    rgbww_color: tuple[int, int, int, int, int] | None = None
    effect: str | None = None
    effect_list: tuple[str, ...] = ()


class HomeLock(HomeEntity):
    """A lock; with a `code` it opens for nobody who does not say it."""

    state: Named[LockState] = LockState.LOCKED
    supported_features: Annotated[LockEntityFeature, features_of(LockEntityFeature)] = (
        LockEntityFeature(0)
    )
    code: str | None = None


class Track(Written):
    """One piece that a media player has at hand."""

    title: str
    artist: str | None = None
    album: str | None = None


class HomeMediaPlayer(HomeEntity):
    """A speaker or a television; `media_track` counts from 1 and names one of `tracks` where there are any."""

    state: Named[MediaPlayerState] = MediaPlayerState.OFF
    device_class: Named[MediaPlayerDeviceClass] | None = None
    supported_features: Annotated[
        MediaPlayerEntityFeature, features_of(MediaPlayerEntityFeature)
    ] = MediaPlayerEntityFeature(0)
    volume_level: Annotated[float, Field(ge=0, le=1)] = 0.5
    is_volume_muted: bool | None = None
    media_track: Annotated[int, Field(ge=1)] = 1
    tracks: tuple[Track, ...] = ()
    source: str | None = None
    source_list: tuple[str, ...] = ()


class HomeSwitch(HomeEntity):
    """A switch or a socket."""

    state: bool = False
    device_class: Named[SwitchDeviceClass] | None = None


def _activity_of_off(written: object) -> object:
    return VacuumActivity.IDLE if written in ("off", False) else written


class HomeVacuum(HomeEntity):
    """A vacuum robot; one that is `off` stands idle."""

    state: Annotated[Named[VacuumActivity], BeforeValidator(_activity_of_off)] = (
        VacuumActivity.DOCKED
    )
    supported_features: Annotated[
        VacuumEntityFeature, features_of(VacuumEntityFeature)
    ] = VacuumEntityFeature(0)
    fan_speed: str | None = None
    fan_speed_list: tuple[str, ...] = ()


class HomeValve(HomeEntity):
    """A valve; one that reports its position is open when that is above 0, whatever its `state` says."""

    state: IsOpen = False
    device_class: Named[ValveDeviceClass] | None = None
    supported_features: Annotated[
        ValveEntityFeature, features_of(ValveEntityFeature)
    ] = ValveEntityFeature.OPEN | ValveEntityFeature.CLOSE
    reports_position: bool = False
    current_position: Percentage | None = None
