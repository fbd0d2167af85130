"""Whatever several hooks want by the time a yes comes, it runs what it was given to, once, and nothing else."""

from dataclasses import dataclass, replace

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.events import PendingApproval
from custom_components.chatterbox.agent.loop import AgenticLoop
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall, Transcript, UserMessage
from custom_components.chatterbox.agent.protocols import Ask, Deny
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from custom_components.chatterbox.agent.turn import ApprovalAnswer, Approved, Denied, Turn
from tests.agent.turns import assert_valid, collect, finished, results
from tests.doubles import Line, ScriptedDispatcher, ScriptedHooks, ScriptedProvider, call, say, tool

type Opinion = Deny | Ask | None
type Opinions = dict[str, Opinion]
type Decisions = dict[str, Approved | Denied]

NAMES = ["unlock", "disarm", "open"]
TURN = Turn("Go!", tools=tuple(tool(name) for name in NAMES))
CALLS = [ToolCall(name, name, "{}") for name in NAMES]

ASKS = st.builds(Ask, st.sampled_from(["", "Sure?"]), st.sampled_from(["", "a", "b", r"a\nb", "a\nb"]))
HOOK = st.fixed_dictionaries(dict.fromkeys(NAMES, st.none() | ASKS | ASKS | ASKS | st.just(Deny("Never."))))
HOOKS = st.lists(HOOK, min_size=2, max_size=2)
YES_OR_NO = st.sampled_from([Approved(), Approved(), Approved(), Denied()])
ANSWERS = st.lists(st.tuples(HOOKS, st.dictionaries(st.sampled_from(NAMES), YES_OR_NO)), max_size=4)


@dataclass(frozen=True)
class Waits:
    """A call that has to wait for a yes to these."""

    terms: frozenset[str] = frozenset()


def fate(opinions: list[Opinion]) -> Waits | bool:
    """Tell what becomes of a new call: it runs, it never will, or it waits."""
    if any(isinstance(one, Deny) for one in opinions):
        return False
    asks = [one for one in opinions if isinstance(one, Ask)]
    return Waits(frozenset(one.terms for one in asks if one.terms)) if asks else True


def fate_of_approved(opinions: list[Opinion], asked: Waits) -> Waits | bool:
    """Tell what becomes of a call that got a yes to what was asked."""
    match now := fate(opinions):
        case Waits(terms):
            return now if terms - asked.terms else True
        case _:
            return now


class House:
    """A conversation about one message of calls; each turn has to do with them what was promised."""

    def __init__(self) -> None:
        self.opinions: list[Opinions] = []
        self.hooks = [self._hook(0), self._hook(1)]
        self.dispatcher = ScriptedDispatcher()
        self.history: Transcript = ()

    def _hook(self, index: int) -> ScriptedHooks:
        def opinion(name: str, _: JsonObject) -> Opinion:
            return self.opinions[index][name]

        return ScriptedHooks(before=opinion, approved=opinion)

    async def take(self, turn: Turn, fates: dict[str, Waits | bool], *script: list[Line]) -> PendingApproval | None:
        """Take a turn that decides about these calls; return its question."""
        ran_before = len(self.dispatcher.finished)
        provider = ScriptedProvider(*script, say("Done."))
        events = await collect(
            AgenticLoop(provider, self.dispatcher, hooks=self.hooks), replace(turn, history=self.history)
        )
        recorder = TranscriptRecorder()
        recorder.append(UserMessage(turn.user_text or ""))
        for event in events:
            recorder.add(event)
        self.history += recorder.messages
        assert_valid(self.history)

        waiting = {name: one for name, one in fates.items() if isinstance(one, Waits)}
        pending = finished(events).pending
        asked = {gated.call.name: gated.terms for gated in pending.calls} if pending else {}
        assert asked.keys() == waiting.keys()
        assert all(bool(asked[name]) == bool(one.terms) for name, one in waiting.items())
        assert sorted(one.name for one in self.dispatcher.finished[ran_before:]) == sorted(
            name for name, one in fates.items() if one is True
        )
        assert [result.name for result in results(events)] == [*fates]
        assert len(provider.requests) == len(script) + (not waiting), "a question comes before the model"
        return pending

    def of(self, name: str) -> list[Opinion]:
        """Return what the hooks think of a tool's calls."""
        return [one[name] for one in self.opinions]


def by_id(pending: PendingApproval, decisions: Decisions) -> Decisions:
    """Return decisions about tools as decisions about calls."""
    asked = {gated.call.name: gated.call.id for gated in pending.calls}
    return {asked[name]: decision for name, decision in decisions.items() if name in asked}


@settings(max_examples=200, deadline=None)
@given(HOOKS, ANSWERS)
async def test_a_yes_runs_what_it_was_given_to(
    opinions: list[Opinions], answers: list[tuple[list[Opinions], Decisions]]
) -> None:
    house = House()
    house.opinions = opinions
    fates = {name: fate(house.of(name)) for name in NAMES}
    pending = await house.take(TURN, fates, call(*CALLS))
    for now, decisions in answers:
        if pending is None:
            break
        house.opinions = now
        approved = [name for name in fates if isinstance(decisions.get(name), Approved)]
        asked = {name: one for name, one in fates.items() if isinstance(one, Waits)}
        fates = {name: name in approved and fate_of_approved(house.of(name), one) for name, one in asked.items()}
        shown = [*house.hooks[0].approved_calls, *((name, {}) for name in asked if name in approved)]
        answer = ApprovalAnswer(pending, by_id(pending, decisions))

        pending = await house.take(replace(TURN, user_text="Yes", approval=answer), fates)

        assert house.hooks[0].approved_calls == shown, "what was not approved is not shown"
    ran = [one.name for one in house.dispatcher.finished]
    assert len(ran) == len(set(ran)), "once"
