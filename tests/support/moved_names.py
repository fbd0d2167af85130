"""Takes names inside Home Assistant away from Chatterbox, as a release that moves them would."""

import importlib
import sys
from types import ModuleType
from typing import Any, override

import pytest
from homeassistant.const import MAJOR_VERSION, MINOR_VERSION
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.reliance import Ability, Reliance
from custom_components.chatterbox.runtime.moved_parts import RELIANCES

RELEASE = (MAJOR_VERSION, MINOR_VERSION)


class _Hidden:
    """An attribute that only Home Assistant's own modules see."""

    def __init__(self, name: str, of_class: Any) -> None:
        self._name, self._of_class = name, of_class

    def __get__(self, one: object, kind: type) -> object:
        reader = sys._getframe(1).f_globals["__name__"]  # noqa: SLF001  # the module of the caller
        if not reader.startswith("homeassistant."):
            raise AttributeError(self._name)
        if self._name in getattr(one, "__dict__", ()):
            return vars(one)[self._name]
        return (
            self._of_class.__get__(one, kind)
            if hasattr(self._of_class, "__get__")
            else self._of_class
        )

    def __set__(self, one: object, value: object) -> None:
        if hasattr(self._of_class, "__set__"):  # a slot
            self._of_class.__set__(one, value)
        else:
            vars(one)[self._name] = value


class _Without(ModuleType):
    """A module without some of its names, for those who look it up from now on."""

    def __init__(self, module: ModuleType, names: set[str]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(
            {name: value for name, value in vars(module).items() if name not in names}
        )

    @override
    def __repr__(self) -> str:
        return f"<{self.__name__} of another release>"


def hide(
    monkeypatch: pytest.MonkeyPatch, hass: HomeAssistant, reliance: Reliance[Any]
) -> None:
    """Take the names of a reliance away. Its component counts as set up."""
    parts = reliance.module.split(".")
    if parts[1] == "components":
        hass.config.components.add(parts[2])
        importlib.import_module(".".join(parts[:3]))  # with what it imports itself
    if reliance.owner is None:
        module = _Without(
            importlib.import_module(reliance.module),
            {name.partition(".")[0] for name in reliance.names},
        )
        monkeypatch.setitem(sys.modules, reliance.module, module)
        return
    owner = reliance.owner(hass)
    assert owner is not None, f"the home has nothing for {reliance}"
    kind = owner if isinstance(owner, type) else type(owner)
    for name in reliance.names:
        monkeypatch.setattr(
            kind, name, _Hidden(name, vars(kind).get(name)), raising=False
        )


def take_away(
    monkeypatch: pytest.MonkeyPatch, hass: HomeAssistant, ability: Ability
) -> None:
    """Take all names away that an ability relies on."""
    needed = [
        one for one in RELIANCES if one.ability is ability and one.since <= RELEASE
    ]
    for reliance in needed[::-1]:  # an object is found by the names of another one
        hide(monkeypatch, hass, reliance)
