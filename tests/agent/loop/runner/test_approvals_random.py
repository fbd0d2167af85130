"""Whatever several hooks want by the time a yes comes, it runs what it was given to, once, and nothing else."""

from dataclasses import dataclass, replace

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.events import Answer, PendingApproval
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolCall,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny, Rewrite
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from tests.agent.turns import assert_valid, collect, finished, results
from tests.support.doubles import (
    NO,
    YES,
    Line,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    call,
    say,
    tool,
)
from tests.support.thorough import some_examples

type Opinion = Deny | Ask | Rewrite[JsonObject] | None
type Opinions = dict[str, tuple[Opinion, Opinion]]
"""The verdict of a hook on the calls of a tool, by the door that they are about."""
type Decisions = dict[str, Answer]

NAMES = ["unlock", "disarm", "open"]
TURN = Turn("Go!", tools=tuple(tool(name) for name in NAMES))
CALLS = [ToolCall(name, name, '{"door":0}') for name in NAMES]

ASKS = st.builds(
    Ask,
    st.sampled_from(["", "Sure?"]),
    st.sampled_from(["", "a", "b", r"a\nb", "a\nb"]),
)
REWRITES = st.sampled_from([Rewrite[JsonObject]({"door": door}) for door in (0, 1)])
OPINION = st.none() | ASKS | ASKS | ASKS | REWRITES | st.just(Deny("Never."))
HOOK = st.fixed_dictionaries(dict.fromkeys(NAMES, st.tuples(OPINION, OPINION)))
HOOKS = st.lists(HOOK, min_size=3, max_size=3)
YES_OR_NO = st.sampled_from([YES, YES, YES, NO])
ANSWERS = st.lists(
    st.tuples(HOOKS, st.dictionaries(st.sampled_from(NAMES), YES_OR_NO)), max_size=4
)


@dataclass(frozen=True)
class Waits:
    """A call that has to wait for a yes to these."""

    door: int
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Runs:
    """A call that runs."""

    door: int


type Fate = Waits | Runs | None
"""The fate of a call; None if it never runs."""


def about(arguments: JsonObject) -> int:
    """Return the door that a call is about."""
    door = arguments["door"]
    assert isinstance(door, int)
    return door


def fate(opinions: list[tuple[Opinion, Opinion]]) -> Fate:
    """Return what becomes of a new call: all that ask have to ask about what would run."""
    door, asking = 0, []
    for by_door in opinions:
        match by_door[door]:
            case Deny():
                return None
            case Ask():
                asking.append(by_door)
            case Rewrite(arguments):
                door = about(arguments)
            case None:
                pass
    return agreed(door, [by_door[door] for by_door in asking])


def agreed(door: int, opinions: list[Opinion]) -> Fate:
    """Return what becomes of a call that nobody changes any more."""
    if any(isinstance(one, Deny | Rewrite) for one in opinions):
        return None
    asks = [one for one in opinions if isinstance(one, Ask)]
    return (
        Waits(door, frozenset(one.terms for one in asks if one.terms))
        if asks
        else Runs(door)
    )


def fate_of_approved(
    opinions: list[tuple[Opinion, Opinion]], pending_calls: Waits
) -> Fate:
    """Return what becomes of a call that got a yes to what was asked."""
    match now := agreed(
        pending_calls.door,
        [without_rewrites(by_door[pending_calls.door]) for by_door in opinions],
    ):
        case Waits(door, terms):
            return now if terms - pending_calls.terms else Runs(door)
        case _:
            return now


def without_rewrites(opinion: Opinion) -> Deny | Ask | None:
    """Return what a hook thinks of a call that was said yes to."""
    return None if isinstance(opinion, Rewrite) else opinion


class Home:
    """A conversation about one message of calls; each turn has to do with them what was promised."""

    def __init__(self) -> None:
        self.opinions: list[Opinions] = []
        self.hooks = [self._hook(index) for index in range(3)]
        self.dispatcher = ScriptedDispatcher()
        self.history: Transcript = ()

    def _hook(self, index: int) -> ScriptedHooks:
        def before(name: str, arguments: JsonObject) -> Opinion:
            return self.opinions[index][name][about(arguments)]

        def approved(name: str, arguments: JsonObject) -> Deny | Ask | None:
            return without_rewrites(before(name, arguments))

        return ScriptedHooks(before=before, approved=approved)

    async def take(
        self, turn: Turn, fates: dict[str, Fate], *script: list[Line]
    ) -> PendingApproval | None:
        """Take a turn that decides about these calls; return its question."""
        ran_before = len(self.dispatcher.finished)
        provider = ScriptedProvider(*script, say("Done."))
        events = await collect(
            AgenticLoop(provider, self.dispatcher, hooks=self.hooks),
            replace(turn, history=self.history),
        )
        recorder = TranscriptRecorder()
        recorder.append(UserMessage(turn.user_text or ""))
        for event in events:
            recorder.add(event)
        self.history += recorder.messages
        assert_valid(self.history)

        waiting = {name: one for name, one in fates.items() if isinstance(one, Waits)}
        pending = finished(events).pending
        pending_calls = (
            {pending_call.call.name: pending_call for pending_call in pending.calls}
            if pending
            else {}
        )
        assert pending_calls.keys() == waiting.keys()
        assert all(
            bool(pending_calls[name].terms) == bool(one.terms)
            for name, one in waiting.items()
        )
        assert all(
            pending_calls[name].call.arguments == f'{{"door":{one.door}}}'
            for name, one in waiting.items()
        )
        assert sorted(
            one.key for one in self.dispatcher.finished[ran_before:]
        ) == sorted(
            (name, f'{{"door":{one.door}}}')
            for name, one in fates.items()
            if isinstance(one, Runs)
        )
        assert [result.name for result in results(events)] == [*fates]
        assert len(provider.requests) == len(script) + (not waiting), (
            "a question comes before the model"
        )
        return pending

    def of(self, name: str) -> list[tuple[Opinion, Opinion]]:
        """Return what the hooks think of a tool's calls."""
        return [one[name] for one in self.opinions]


def by_id(pending: PendingApproval, decisions: Decisions) -> Decisions:
    """Return decisions about tools as decisions about calls."""
    pending_calls = {
        pending_call.call.name: pending_call.call.id for pending_call in pending.calls
    }
    return {
        pending_calls[name]: decision
        for name, decision in decisions.items()
        if name in pending_calls
    }


@settings(max_examples=some_examples(200))
@given(HOOKS, ANSWERS)
async def test_a_yes_runs_what_it_was_given_to(
    opinions: list[Opinions], answers: list[tuple[list[Opinions], Decisions]]
) -> None:
    home = Home()
    home.opinions = opinions
    fates = {name: fate(home.of(name)) for name in NAMES}
    pending = await home.take(TURN, fates, call(*CALLS))
    for now, decisions in answers:
        if pending is None:
            break
        home.opinions = now
        approved = [
            name for name in fates if (words := decisions.get(name)) and words.approved
        ]
        pending_calls = {
            name: one for name, one in fates.items() if isinstance(one, Waits)
        }
        fates = {
            name: fate_of_approved(home.of(name), one) if name in approved else None
            for name, one in pending_calls.items()
        }
        content = [
            *home.hooks[0].approved_calls,
            *(
                (name, {"door": one.door})
                for name, one in pending_calls.items()
                if name in approved
            ),
        ]
        answer = replace(pending, answers=by_id(pending, decisions))

        pending = await home.take(
            replace(TURN, user_text="Yes", approval=answer), fates
        )

        assert home.hooks[0].approved_calls == content, (
            "what was not approved is not shown"
        )
    ran = [one.name for one in home.dispatcher.finished]
    assert len(ran) == len(set(ran)), "once"
