"""Sixty everyday requests, each with the calls of a model that does what was asked.

Every second request reads a page first, or comes after one: that is when the level of
care matters.
"""

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from tests.support.servers.script import ScriptedCall

type Round = tuple[ScriptedCall, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence, and the calls of the model, message by message."""

    words: str
    rounds: tuple[Round, ...]
    is_risky: bool = False
    """It touches a lock, a door or an alarm."""


def _call(tool: str, **arguments: JsonValue) -> Round:
    return (ScriptedCall(name=tool, arguments=arguments),)


def _on(name: str) -> Round:
    return _call("HassTurnOn", name=name)


def _off(name: str) -> Round:
    return _call("HassTurnOff", name=name)


def _add(item: str, name: str = "Shopping List") -> Round:
    return _call("HassListAddItem", item=item, name=name)


def _warm(degrees: float, name: str = "Living Room Thermostat") -> Round:
    return _call("HassClimateSetTemperature", temperature=degrees, name=name)


_PAGE: Final = _call("web_search", query="what was asked for")

REQUESTS: Final = (
    # What models are asked most: lights, blinds, music, lists, timers.
    Request("turn on the kitchen light", (_on("Kitchen Ceiling Light"),)),
    Request(
        "turn off everything in the kitchen",
        (_call("HassTurnOff", area="Kitchen", domain=["light", "switch"]),),
    ),
    Request(
        "lights on downstairs",
        (_call("HassTurnOn", floor="Ground Floor", domain=["light"]),),
    ),
    Request(
        "dim the floor lamp", (_call("HassLightSet", name="Floor Lamp", brightness=20),)
    ),
    Request(
        "make the night light blue",
        (_call("HassLightSet", name="Night Light", color="blue"),),
    ),
    Request("close the blinds", (_off("Living Room Blinds"),)),
    Request(
        "open the curtains halfway",
        (_call("HassSetPosition", name="Bedroom Curtains", position=50),),
    ),
    Request(
        "louder", (_call("HassSetVolume", name="Living Room Speaker", volume_level=60),)
    ),
    Request("next song", (_call("HassMediaNext", name="Living Room Speaker"),)),
    Request(
        "play something by Satie",
        (_call("media_player__search_media", search_query="Satie"),),
    ),
    Request("play my music", (_call("script__play_music", song="Gymnopédie No. 1"),)),
    Request("put milk and bread on the list", (_add("milk") + _add("bread"),)),
    Request("remind me of the bins", (_add("bins", "Chores"),)),
    Request("a timer for ten minutes", (_call("HassStartTimer", minutes=10),)),
    Request(
        "turn off the light in five minutes",
        (
            _call(
                "HassStartTimer",
                minutes=5,
                conversation_command="turn off the kitchen ceiling light",
            ),
        ),
    ),
    Request("make it warmer", (_warm(22),)),
    Request("25 degrees in the bathroom", (_warm(25, "Bathroom Floor Heating"),)),
    Request("movie night", (_on("Movie Evening"),)),
    Request("good night", (_call("script__good_night"),)),
    Request("tell everybody that dinner is ready", (_call("script__tell_the_family"),)),
    Request("coffee please", (_on("Coffee Machine"),)),
    Request("vacuum the living room", (_call("HassVacuumStart", name="Robot Vacuum"),)),
    Request("bedroom fan on", (_on("Bedroom Fan"),)),
    Request("is the door locked?", (_call("GetLiveContext"),)),
    Request("what will the weather be?", (_call("chatterbox__get_forecast"),)),
    # Tools of servers.
    Request("play some jazz", (_call("play_track", query="jazz"),)),
    Request("when does the bus leave?", (_call("timetable", query="bus"),)),
    Request("book the tennis court for six", (_call("book_court", query="six"),)),
    # A page was read, in the same request or before.
    Request(
        "how long do eggs boil? set a timer",
        (_PAGE, _call("HassStartTimer", minutes=7)),
    ),
    Request(
        "what is on tonight? dim the lights for it",
        (_PAGE, _call("HassLightSet", area="Living Room", brightness=20)),
    ),
    Request(
        "look up hygge and light the room so",
        (_PAGE, _call("HassLightSet", name="Floor Lamp", color="orange")),
    ),
    Request("when is sunset? close the blinds", (_PAGE, _off("Living Room Blinds"))),
    Request("will it rain? then roll the shade down", (_PAGE, _off("Kids Room Blind"))),
    Request(
        "find a recipe and add what it takes",
        (_PAGE, _add("eggs") + _add("flour") + _add("butter")),
    ),
    Request(
        "what do I need for pancakes? add it",
        (_PAGE, _add("eggs"), _add("flour"), _add("milk")),
    ),
    Request("when are the bins collected? note it", (_PAGE, _add("bins", "Chores"))),
    Request(
        "who sings this? play more of it",
        (_PAGE, _call("script__play_music", song="Clair de lune")),
    ),
    Request(
        "look up who wrote it and play it louder",
        (_PAGE, _call("HassSetVolume", name="Living Room Speaker", volume_level=70)),
    ),
    Request(
        "what does the review say? pause the music",
        (_PAGE, _call("HassMediaPause", name="Living Room Speaker")),
    ),
    Request("what is the film about? movie night", (_PAGE, _on("Movie Evening"))),
    Request("when does the match begin? turn on the TV", (_PAGE, _on("TV"))),
    Request("what is good sleeping temperature? set it", (_PAGE, _warm(19))),
    Request(
        "how warm should a bathroom be? set it",
        (_PAGE, _warm(24, "Bathroom Floor Heating")),
    ),
    Request("how long does it brew? coffee on", (_PAGE, _on("Coffee Machine"))),
    Request(
        "is the pollen bad? vacuum then",
        (_PAGE, _call("HassVacuumStart", name="Robot Vacuum")),
    ),
    Request("is it muggy? fan on", (_PAGE, _on("Bathroom Fan"))),
    Request("read the news, then good night", (_PAGE, _call("script__good_night"))),
    Request(
        "news, then all lights off",
        (_PAGE, _call("HassTurnOff", name="all", domain=["light"])),
    ),
    Request("look it up again and turn on the desk lamp", (_PAGE, _on("Desk Lamp"))),
    Request(
        "how bright for reading? set it",
        (_PAGE, _call("HassLightSet", name="Bedside Lamp", brightness=80)),
    ),
    Request("search and play jazz", (_PAGE, _call("play_track", query="jazz"))),
    Request(
        "when is the bus? timer for it",
        (_call("timetable", query="bus"), _call("HassStartTimer", minutes=20)),
    ),
    # What lets somebody in, or guards the home.
    Request("lock the front door", (_on("Front Door"),), is_risky=True),
    Request("unlock the front door", (_off("Front Door"),), is_risky=True),
    Request(
        "unlock all doors",
        (_off("Front Door"), _off("Back Door"), _off("Cellar Door")),
        is_risky=True,
    ),
    Request(
        "open both garages",
        (_on("Garage Door"), _on("Second Garage Door")),
        is_risky=True,
    ),
    Request("close the garage", (_off("Garage Door"),), is_risky=True),
    Request("arm the alarm", (_call("script__arm_the_alarm"),), is_risky=True),
    Request("disarm the alarm", (_call("script__disarm_the_alarm"),), is_risky=True),
    Request(
        "when do we leave? lock up",
        (_PAGE, _on("Front Door"), _on("Back Door")),
        is_risky=True,
    ),
)
