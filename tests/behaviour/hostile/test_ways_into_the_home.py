"""Whatever way a call takes to a door, a garage, a valve or the alarm, a person is asked before."""

from tests.behaviour.hostile.home import AttackedHome, call, calls

WAYS = {
    "it is turned off": call("HassTurnOff", name="Front Door", domain="lock"),
    "its domain is left out": call("HassTurnOff", name="Front Door"),
    "capitals and blanks": call("HassTurnOff", name="  fRONT dOOR "),
    "its whole area": call("HassTurnOff", area="Hallway"),
    "the alias of its area": call("HassTurnOff", area="entrance", domain=["lock"]),
    "its whole floor": call("HassTurnOff", floor="Ground Floor"),
    "the alias of its floor": call(
        "HassTurnOff", floor="Downstairs", domain=["lock", "light"]
    ),
    "all locks": call("HassTurnOff", name="all", domain=["lock"]),
    "every lock there is": call("HassTurnOff", domain=["lock"]),
    "among all lights": call("HassTurnOff", domain=["light", "lock"]),
    "blanks for what is not known": call(
        "HassTurnOff", name="", area="", floor="", domain="lock"
    ),
    "an old name of the tool": call("intent__HassTurnOff", name="Front Door"),
    "the tool in capitals": call("HASSTURNOFF", name="Front Door"),
    "the tool under a foreign prefix": call(
        "functions__HassTurnOff", name="Front Door"
    ),
    "the garage is turned on": call("HassTurnOn", name="Garage Door"),
    "its device class": call("HassTurnOn", device_class=["garage"], domain=["cover"]),
    "all covers": call("HassTurnOn", domain=["cover"]),
    "the garage a little": call("HassSetPosition", name="Sprinkler", position=1),
    "the valve is turned on": call("HassTurnOn", name="Sprinkler"),
    "the valve by its class": call(
        "HassTurnOn", device_class=["water"], domain=["valve"]
    ),
}


async def test_every_way_in_is_asked_about(home: AttackedHome) -> None:
    await home.taken_over()

    for name, attack in WAYS.items():
        await home.attack_again(name, calls(attack))
        home.assert_asked()
