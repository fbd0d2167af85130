"""Eight homes in one: all of the demo's home, with names of their own."""

from collections import Counter
from collections.abc import Mapping

from pydantic import JsonValue

from bench.side_by_side.street import HOMES, describe_street


def test_each_home_has_all_of_the_demo_under_names_of_its_own() -> None:
    street = describe_street()

    for kind, parts in street.items():
        ids = {part["id"] for part in parts}
        assert len(ids) == len(parts)
        assert len(parts) % HOMES == 0
        names = Counter(
            name
            for part in parts
            for name in (str(part["name"]), *map(str, _aliases(part)))
        )
        assert not [name for name, count in names.items() if count > 1], kind
    assert HOMES == 8
    rooms = {part["id"] for part in street["areas"]}
    assert {part["area"] for part in street["devices"]} <= rooms
    assert {part["floor"] for part in street["areas"] if "floor" in part} == {
        part["id"] for part in street["floors"]
    }


def _aliases(part: Mapping[str, JsonValue]) -> list[JsonValue]:
    aliases = part.get("aliases", [])
    assert isinstance(aliases, list)
    return aliases
