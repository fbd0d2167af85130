"""How far each source of tools is trusted: what is asked about, refused, or not offered at all."""

from collections.abc import Mapping
from dataclasses import replace

from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLM_API_ASSIST

from custom_components.chatterbox.agent.messages import ToolAnnotations, ToolDefinition
from custom_components.chatterbox.agent.protocols import Ask, Deny
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    OutsideCare,
    Policy,
    Rule,
    ToolSource,
    TrustLevel,
    Verdict,
)
from tests.support.one_home import in_one_home

HOME = """
areas:
  - { id: hall, name: Hall }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Door, id: lock.door, area: hall, state: locked }
"""
SIREN = Effects(frozenset({EntityAction("siren.roof", "siren.turn_on")}))
LAMP = Effects(frozenset({EntityAction("light.lamp", "light.turn_on")}))
DOOR = Effects(frozenset({EntityAction("lock.door", "lock.unlock")}))
RUN = EntityAction("script.night", "script.turn_on")
SCRIPT = Effects(
    unknowns=frozenset({Unknown(UnknownReason.OPAQUE_ACTION, RUN)}),
    actions=frozenset({RUN}),
)
FOREIGN = Effects(annotations=ToolAnnotations())
ADDS = Effects(annotations=ToolAnnotations(destructive=False))
READS = Effects(annotations=ToolAnnotations(read_only=True))
DONE, ASKED, REFUSED = "done", "asked", "refused"


async def outcome(
    hass: HomeAssistant,
    effects: Effects,
    sources: Mapping[str, ToolSource],
    *rules: Rule,
    tool: str = "some__tool",
    api: str = LLM_API_ASSIST,
    care: OutsideCare = OutsideCare.RISKY,
    outside: bool = False,
) -> str:
    async def effects_of(*_: object) -> Effects:
        return effects

    annotations = effects.annotations or ToolAnnotations(open_world=False)
    settings, speaker = (
        HomeRules(policy=Policy(rules, sources), ask_after_outside_content=care),
        Speaker(asking=Asking.PERSON),
    )
    guard = CallGuard(
        hass,
        settings,
        speaker,
        effects_of,
        has_outside_content=outside,
        labels={tool: api},
    )
    match await guard.pre_tool_use(
        ToolDefinition(tool, "", {"type": "object"}, annotations), {}
    ):
        case None:
            return DONE
        case Ask():
            return ASKED
        case Deny():
            return REFUSED


async def test_no_server_lends_its_level_to_the_understanding_of_sentences(
    home: HomeAssistant,
) -> None:
    sources = {LLM_API_ASSIST: at(TrustLevel.READ), "mcp-1": at(TrustLevel.FREE)}

    assert (
        await outcome(home, LAMP, sources, tool=PROCESS_SENTENCE.name, api="mcp-1")
        == REFUSED
    )


def at(level: TrustLevel, *affects: str) -> ToolSource:
    return ToolSource(level, frozenset(affects))


@in_one_home(
    ("effects", "by_default", "at_levels"),
    [
        (LAMP, DONE, [DONE, ASKED, REFUSED]),
        (DOOR, ASKED, [ASKED, ASKED, REFUSED]),
        (NOTHING, DONE, [DONE, ASKED, REFUSED]),
        (FOREIGN, ASKED, [DONE, ASKED, REFUSED]),
        (ADDS, DONE, [DONE, ASKED, REFUSED]),
        (READS, DONE, [DONE, DONE, DONE]),
        (SCRIPT, ASKED, [ASKED, ASKED, REFUSED]),
    ],
)
async def test_a_level_holds_for_all_tools_of_a_source(
    home: HomeAssistant, effects: Effects, by_default: str, at_levels: list[str]
) -> None:
    assert await outcome(home, effects, {}) == by_default
    outcomes = [
        await outcome(home, effects, {"mcp-1": at(level)}, api="mcp-1")
        for level in TrustLevel
    ]
    assert outcomes == at_levels
    assert (
        await outcome(home, effects, {"mcp-2": at(TrustLevel.READ)}, api="mcp-1")
        == by_default
    )


@in_one_home(
    ("effects", "care", "expected"),
    [
        (FOREIGN, OutsideCare.RISKY, DONE),
        (FOREIGN, OutsideCare.EVERY_CHANGE, ASKED),
        (replace(DOOR, annotations=ToolAnnotations()), OutsideCare.RISKY, ASKED),
        (replace(SIREN, annotations=ToolAnnotations()), OutsideCare.RISKY, ASKED),
        (LAMP, OutsideCare.RISKY, DONE),
        (SIREN, OutsideCare.RISKY, ASKED),
    ],
)
async def test_a_trusted_server_acts_freely_after_outside_content_as_far_as_it_leaves_the_home_alone(
    home: HomeAssistant, effects: Effects, care: OutsideCare, expected: str
) -> None:
    sources = {"mcp-1": at(TrustLevel.FREE)}

    assert (
        await outcome(home, effects, sources, api="mcp-1", care=care, outside=True)
        == expected
    )
    if effects is FOREIGN:
        assert (
            await outcome(home, effects, {}, api="mcp-1", care=care, outside=True)
            == ASKED
        )


async def test_a_rule_of_the_owner_counts_more_than_a_level(
    home: HomeAssistant,
) -> None:
    lamps = Rule(verdict=Verdict.ALLOW, domains=frozenset({"light"}))
    never = Rule(verdict=Verdict.DENY, entities=frozenset({"lock.door"}))

    assert (
        await outcome(home, LAMP, {LLM_API_ASSIST: at(TrustLevel.ASK)}, lamps) == DONE
    )
    assert (
        await outcome(home, DOOR, {LLM_API_ASSIST: at(TrustLevel.FREE)}, never)
        == REFUSED
    )


@in_one_home(
    ("level", "expected"),
    [(TrustLevel.FREE, DONE), (TrustLevel.ASK, ASKED), (TrustLevel.READ, REFUSED)],
)
async def test_a_script_has_a_level_of_its_own_however_it_is_run(
    home: HomeAssistant, level: TrustLevel, expected: str
) -> None:
    sources = {"script.night": at(level), LLM_API_ASSIST: ToolSource()}

    assert await outcome(home, SCRIPT, sources, tool="script__night") == expected
    assert await outcome(home, SCRIPT, sources, tool="intent__HassTurnOn") == expected


async def test_a_trusted_script_is_no_way_round_the_rules(home: HomeAssistant) -> None:
    sources = {"script.night": at(TrustLevel.FREE)}
    opens = Effects(DOOR.actions | {RUN})
    never = Rule(verdict=Verdict.DENY, entities=frozenset({"lock.door"}))

    assert await outcome(home, opens, sources) == ASKED
    assert await outcome(home, SCRIPT, sources, never) == REFUSED


async def test_a_tool_that_only_is_called_like_a_trusted_script_is_not_trusted(
    home: HomeAssistant,
) -> None:
    sources = {"script.night": at(TrustLevel.FREE)}

    assert (
        await outcome(home, FOREIGN, sources, tool="script__night", api="mcp-1")
        == ASKED
    )


async def test_a_trusted_script_may_run_where_all_else_of_assist_is_asked_about(
    home: HomeAssistant,
) -> None:
    sources = {LLM_API_ASSIST: at(TrustLevel.ASK), "script.night": at(TrustLevel.FREE)}
    dims = Effects(LAMP.actions | {RUN})

    assert await outcome(home, dims, sources, tool="script__night") == DONE
    assert await outcome(home, LAMP, sources) == ASKED


async def test_what_the_owner_says_a_script_affects_is_all_that_it_is_judged_by(
    home: HomeAssistant,
) -> None:
    home.states.async_set(
        "light.both", "off", {"entity_id": ["light.lamp", "light.other"]}
    )
    pin = Rule(verdict=Verdict.DENY, entities=frozenset({"light.other"}))
    lamps = {"script.night": ToolSource(affects=frozenset({"light.both"}))}
    doors = {"script.night": ToolSource(affects=frozenset({"light.lamp", "lock.door"}))}

    assert await outcome(home, SCRIPT, lamps) == DONE
    assert await outcome(home, SCRIPT, lamps, pin) == REFUSED
    assert await outcome(home, SCRIPT, doors) == ASKED
    other = Effects(unknowns=SCRIPT.unknowns | {Unknown(UnknownReason.SENTENCE)})
    assert await outcome(home, other, lamps) == ASKED


async def test_sentences_have_the_level_of_assist(home: HomeAssistant) -> None:
    async def effects_of(*_: object) -> Effects:
        return LAMP

    settings = HomeRules(policy=Policy(sources={LLM_API_ASSIST: at(TrustLevel.READ)}))
    guard = CallGuard(
        home,
        settings,
        Speaker(asking=Asking.PERSON),
        effects_of,
        has_outside_content=False,
    )

    assert isinstance(
        await guard.pre_tool_use(PROCESS_SENTENCE, {"text": "turn on the lamp"}), Deny
    )


async def test_where_assist_only_reads_so_does_a_sentence(home: HomeAssistant) -> None:
    reads = {LLM_API_ASSIST: at(TrustLevel.READ)}

    assert await outcome(home, NOTHING, reads, tool=PROCESS_SENTENCE.name) == DONE
    assert (
        await outcome(
            home, Effects(beside_entities=True), reads, tool=PROCESS_SENTENCE.name
        )
        == REFUSED
    )
    assert (
        await outcome(
            home, Effects(beside_entities=True), {}, tool=PROCESS_SENTENCE.name
        )
        == DONE
    )
