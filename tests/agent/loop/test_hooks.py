"""Hooks decide in order, the first no wins, and whatever goes wrong with one is a no."""

import asyncio
from dataclasses import replace
from typing import override

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.loop.hooks import (
    HookChain,
    HookResult,
    covers,
    join_terms,
)
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from custom_components.chatterbox.agent.protocols import (
    Ask,
    Deny,
    HookPoint,
    Hooks,
    Rewrite,
)
from tests.support.doubles import ScriptedCensor, ScriptedHooks, never, tool

LIGHT = tool("light_on")
CALL = ToolCall("1", "light_on", "{}")
RESULT = ToolResult("1", "light_on", "done")
HIDDEN = replace(RESULT, content="Secret.", is_error=True)
FAILED = Deny("A safety check failed.")


def as_it_is(arguments: JsonObject) -> JsonObject:
    return arguments


def chain(*hooks: Hooks) -> HookChain:
    """Return hooks that may take a minute."""
    return HookChain(hooks, lambda: 60)


class DeferringHooks(Hooks):
    """Looks at everything, and leaves each decision to the class that it comes from."""

    @override
    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        return await super().user_prompt_submit(text)

    @override
    async def post_tool_use(
        self, call: ToolCall, result: ToolResult
    ) -> Deny | Rewrite[str] | None:
        return await super().post_tool_use(call, result)

    @override
    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        return await super().pre_speech(text)


@pytest.mark.parametrize(
    "hooks",
    [
        chain(),
        chain(ScriptedHooks(), ScriptedCensor(lambda _: None)),
        chain(DeferringHooks()),
    ],
)
async def test_a_hook_without_an_opinion_changes_nothing(hooks: HookChain) -> None:
    assert await hooks.user_prompt_submit("Hi") == HookResult("Hi")
    assert await hooks.pre_tool_use(LIGHT, {}, as_it_is) == HookResult({})
    assert await hooks.pre_approved_use(LIGHT, {}) is None
    assert await hooks.post_tool_use(CALL, RESULT) == RESULT
    assert await hooks.pre_speech("Hi") == HookResult("Hi")


async def test_the_first_no_wins_and_the_others_are_not_asked() -> None:
    """Invariant 61."""
    silent = ScriptedHooks()
    denies = ScriptedHooks(prompt=lambda _: Deny("No."))
    after = ScriptedHooks(prompt=lambda _: Deny("Never."))

    assert await chain(silent, denies, after).user_prompt_submit("Hi") == HookResult(
        "Hi", Deny("No.")
    )
    assert (silent.prompts, denies.prompts, after.prompts) == (["Hi"], ["Hi"], [])


async def test_a_hook_sees_what_the_one_before_it_put_in_place() -> None:
    louder = ScriptedHooks(
        prompt=lambda text: Rewrite(f"{text}!"), after=lambda _: Rewrite("less")
    )
    asks = ScriptedHooks(before=lambda _, __: Ask("Sure?"))
    moves = ScriptedHooks(before=lambda _, __: Rewrite({"room": "cellar"}))

    assert await chain(louder, louder).user_prompt_submit("Hi") == HookResult("Hi!!")
    assert await chain(moves, asks).pre_tool_use(
        LIGHT, {"room": "attic"}, as_it_is
    ) == HookResult({"room": "cellar"}, Ask("Sure?"))
    assert asks.calls == [("light_on", {"room": "cellar"})]
    await chain(louder, asks).post_tool_use(CALL, RESULT)
    assert asks.results == [(CALL, replace(RESULT, content="less"))]


async def test_each_kind_of_decision_comes_through() -> None:
    asks = ScriptedHooks(
        before=lambda _, __: Ask("Sure?"), after=lambda _: Deny("Secret.")
    )
    rewrites = ScriptedHooks(
        before=lambda _, __: Rewrite({"a": 1}), after=lambda _: Rewrite("less")
    )

    assert (await chain(asks).pre_tool_use(LIGHT, {}, as_it_is)).decision == Ask(
        "Sure?"
    )
    assert await chain(rewrites).pre_tool_use(LIGHT, {}, as_it_is) == HookResult(
        {"a": 1}
    )
    assert await chain(asks).post_tool_use(CALL, RESULT) == HIDDEN
    assert await chain(rewrites).post_tool_use(CALL, RESULT) == replace(
        RESULT, content="less"
    )
    assert await chain(ScriptedCensor(lambda text: Rewrite(text.upper()))).pre_speech(
        "Hi"
    ) == HookResult("HI")


async def test_what_several_hooks_ask_becomes_one_question() -> None:
    hooks = chain(
        asking(Ask("It is late.", "late")),
        asking(Ask("", "")),
        asking(Ask("The children sleep.", "children")),
        asking(Ask("It is late.", "late")),
        asking(Ask("", "loud")),
    )

    question = Ask("It is late. The children sleep.", "late\nchildren\nloud")
    assert await hooks.pre_tool_use(LIGHT, {}, as_it_is) == HookResult({}, question)
    assert await hooks.pre_approved_use(LIGHT, {}) == question


async def test_a_question_is_about_what_would_run_in_the_end() -> None:
    """A hook that asked about other arguments is asked again about the final ones; its first question is dropped."""

    def doors(_: str, arguments: JsonObject) -> Ask | Deny | None:
        match arguments["door"]:
            case "cellar":
                return Deny("Never.")
            case "garden":
                return None
            case door:
                return Ask(f"Unlock {door}?", f"{door}")

    guard, content = ScriptedHooks(before=doors), asking(Ask("Late.", "late"))

    def rewrites(door: str) -> ScriptedHooks:
        return ScriptedHooks(before=lambda _, __: Rewrite({"door": door}))

    async def decision_of(*hooks: Hooks) -> Deny | Ask | None:
        return (
            await chain(*hooks).pre_tool_use(LIGHT, {"door": "front"}, as_it_is)
        ).decision

    assert await decision_of(guard, rewrites("back")) == Ask("Unlock back?", "back")
    assert guard.calls == [
        ("light_on", {"door": "front"}),
        ("light_on", {"door": "back"}),
    ]
    assert await decision_of(guard, rewrites("garden")) is None
    assert await decision_of(guard, rewrites("cellar")) == Deny("Never.")
    assert await decision_of(guard, rewrites("back"), content) == Ask(
        "Unlock back? Late.", "back\nlate"
    )
    assert await decision_of(
        content, rewrites("garden"), rewrites("back"), guard
    ) == Ask("Late. Unlock back?", "late\nback")

    guard.calls.clear()
    assert await decision_of(guard, rewrites("back"), rewrites("front")) == Ask(
        "Unlock front?", "front"
    )
    assert guard.calls == [("light_on", {"door": "front"})], "that was asked about"


async def test_a_truth_is_no_number_for_who_asked_about_it() -> None:
    asks, moves = (
        asking(Ask("Sure?")),
        ScriptedHooks(before=lambda _, __: Rewrite({"all": True})),
    )
    await chain(asks, moves).pre_tool_use(LIGHT, {"all": 1}, as_it_is)
    assert repr(asks.calls) == repr(
        [("light_on", {"all": 1}), ("light_on", {"all": True})]
    )


async def test_who_asked_cannot_rewrite_what_others_made_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def decide(_: str, arguments: JsonObject) -> Ask | Rewrite[JsonObject]:
        return (
            Ask("Sure?") if arguments["room"] == "attic" else Rewrite({"room": "attic"})
        )

    moves = ScriptedHooks(before=lambda _, __: Rewrite({"room": "cellar"}))
    hooks = chain(ScriptedHooks(before=decide), moves)
    assert (
        await hooks.pre_tool_use(LIGHT, {"room": "attic"}, as_it_is)
    ).decision == FAILED
    assert (
        "Hook ScriptedHooks would change what others made of what it asked about"
        in caplog.text
    )


async def test_who_fails_to_ask_again_denies() -> None:
    def decide(_: str, arguments: JsonObject) -> Ask | None:
        if arguments["room"] == "cellar":
            broken(arguments)
        return Ask("Sure?")

    moves = ScriptedHooks(before=lambda _, __: Rewrite({"room": "cellar"}))
    hooks = chain(ScriptedHooks(before=decide), moves)
    assert (
        await hooks.pre_tool_use(LIGHT, {"room": "attic"}, as_it_is)
    ).decision == FAILED


async def test_a_no_does_not_spare_a_result_the_hooks_after_it() -> None:
    hides, guard = ScriptedHooks(after=lambda _: Deny("Secret.")), ScriptedHooks()
    others = (
        ScriptedHooks(after=lambda _: Rewrite("less")),
        ScriptedHooks(after=lambda _: Deny("No.")),
    )
    result = replace(RESULT, open_world=True, native=object())

    parsed = await chain(hides, *others, guard).post_tool_use(CALL, result)

    assert parsed == replace(HIDDEN, open_world=True)
    assert guard.results == [(CALL, parsed)]
    assert [content.native for _, content in guard.results] == [None]


def asking(ask: Ask) -> ScriptedHooks:
    """Return a hook that always asks the same."""
    return ScriptedHooks(before=lambda _, __: ask, approved=lambda _, __: ask)


async def test_a_hook_that_changes_the_arguments_it_was_shown_changes_nothing() -> None:
    def spoil(_: str, arguments: JsonObject) -> None:
        arguments.clear()

    witness = ScriptedHooks()
    arguments: JsonObject = {"rooms": ["kitchen"]}
    hooks = chain(ScriptedHooks(before=spoil, approved=spoil), witness)
    await hooks.pre_tool_use(LIGHT, arguments, as_it_is)
    await hooks.pre_approved_use(LIGHT, arguments)

    assert arguments == {"rooms": ["kitchen"]}
    assert witness.calls == witness.approved_calls == [("light_on", arguments)]


def broken(_: object, __: object = None) -> None:
    """Fail to decide."""
    raise ValueError("secret")


async def test_a_hook_that_raises_denies(caplog: pytest.LogCaptureFixture) -> None:
    """Invariant 61."""
    hook = ScriptedHooks(prompt=broken, before=broken, approved=broken, after=broken)
    after = ScriptedHooks(prompt=Rewrite)

    assert (await chain(hook, after).user_prompt_submit("Hi")).decision == FAILED
    assert (await chain(hook).pre_tool_use(LIGHT, {}, as_it_is)).decision == FAILED
    assert await chain(hook).pre_approved_use(LIGHT, {}) == FAILED
    assert await chain(hook).post_tool_use(CALL, RESULT) == replace(
        HIDDEN, content=FAILED.reason
    )
    assert (await chain(ScriptedCensor(broken)).pre_speech("Hi")).decision == FAILED
    assert "Hook ScriptedHooks failed and therefore denies" in caplog.text
    assert after.prompts == []


class Optional(Hooks):
    """Fails wherever it is asked, and has no say then but for calls."""

    @override
    def denies_on_failure(self, point: HookPoint) -> bool:
        return point is HookPoint.PRE_TOOL_USE

    @override
    async def user_prompt_submit(self, text: str) -> Deny | None:
        raise ValueError("secret")

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | None:
        raise ValueError("secret")

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | None:
        raise ValueError("secret")

    @override
    async def post_tool_use(
        self, call: ToolCall, result: ToolResult
    ) -> Rewrite[str] | None:
        return Rewrite(None)  # type: ignore[arg-type]  # that is the point

    @override
    async def pre_speech(self, text: str) -> Deny | None:
        await never()
        return None


async def test_a_hook_that_fails_has_no_say_where_it_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    witness = ScriptedHooks(prompt=lambda _: Deny("No."))
    hooks = chain(Optional(), witness)

    assert await hooks.user_prompt_submit("Hi") == HookResult("Hi", Deny("No."))
    assert (await hooks.pre_tool_use(LIGHT, {}, as_it_is)).decision == FAILED
    assert await hooks.pre_approved_use(LIGHT, {}) == FAILED, "it is about a call, too"
    assert await hooks.post_tool_use(CALL, RESULT) == RESULT
    assert await HookChain([Optional()], lambda: 0.01).pre_speech("Hi") == HookResult(
        "Hi"
    )
    assert (witness.prompts, witness.calls) == (["Hi"], [])
    assert "Hook Optional failed and therefore has no say" in caplog.text


async def test_a_hook_that_takes_too_long_denies(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Sleepy(Hooks):
        @override
        async def user_prompt_submit(self, text: str) -> None:
            await never()

    assert (
        await HookChain([Sleepy()], lambda: 0.01).user_prompt_submit("Hi")
    ).decision == FAILED
    (logged,) = caplog.records
    assert (
        logged.getMessage()
        == "hook Sleepy took longer than 0.01 seconds, and therefore denies"
    )
    assert logged.levelname == "WARNING"
    assert not logged.exc_info, "there is nothing to be found in a traceback"


async def test_a_hook_that_is_cancelled_from_elsewhere_denies() -> None:
    class Cancelled(Hooks):
        @override
        async def user_prompt_submit(self, text: str) -> None:
            raise asyncio.CancelledError

    assert (await chain(Cancelled()).user_prompt_submit("Hi")).decision == FAILED


class Untyped(Hooks):
    """Answers what no type checker would let through."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    @override
    async def user_prompt_submit(self, text: str) -> Deny | None:
        return self._answer  # type: ignore[return-value]  # that is the point

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | None:
        return self._answer  # type: ignore[return-value]  # that is the point

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | None:
        return self._answer  # type: ignore[return-value]  # that is the point


_CIRCLE: list[JsonValue] = []
_CIRCLE.append(_CIRCLE)
_NO_PROMPTS = [
    True,
    False,
    "no",
    Ask("Sure?"),
    Rewrite(None),
    Rewrite({"a": 1}),
    Deny(None),  # type: ignore[arg-type]  # that is the point
]
_NO_OPINIONS = [True, "no", Ask(None), Ask("Sure?", None), Deny(None)]  # type: ignore[arg-type]  # that is the point
_NO_CALLS = [
    *_NO_OPINIONS,
    Rewrite("text"),
    Rewrite([1]),
    Rewrite({"a": object}),
    Rewrite({"a": _CIRCLE}),
]


@pytest.mark.parametrize("answer", _NO_PROMPTS, ids=repr)
async def test_a_prompt_passes_no_hook_that_answers_nonsense(answer: object) -> None:
    assert (await chain(Untyped(answer)).user_prompt_submit("Hi")).decision == FAILED


@pytest.mark.parametrize("answer", _NO_CALLS, ids=repr)
async def test_a_call_passes_no_hook_that_answers_nonsense(answer: object) -> None:
    assert (
        await chain(Untyped(answer)).pre_tool_use(LIGHT, {}, as_it_is)
    ).decision == FAILED


@pytest.mark.parametrize("answer", [*_NO_OPINIONS, Rewrite({"a": 1})], ids=repr)
async def test_an_approved_call_passes_no_hook_that_answers_nonsense(
    answer: object,
) -> None:
    assert await chain(Untyped(answer)).pre_approved_use(LIGHT, {}) == FAILED


def test_speech_is_held_back_only_where_a_hook_wants_to_see_it() -> None:
    class Noted(list[str], Hooks):
        """Reads speech, and is false as long as it is empty."""

        @override
        async def pre_speech(self, text: str) -> None:
            self.append(text)

    assert not chain().hold_speech
    assert not chain(ScriptedHooks()).hold_speech
    assert chain(ScriptedHooks(), Noted()).hold_speech


async def test_the_next_hook_sees_what_was_put_in_place_as_it_would_run() -> None:
    moves, last = (
        ScriptedHooks(before=lambda _, __: Rewrite({"room": "cellar"})),
        ScriptedHooks(),
    )

    def fitted(arguments: JsonObject) -> JsonObject:
        return {name: [value] for name, value in arguments.items()}

    seen = await chain(moves, last).pre_tool_use(LIGHT, {"room": "attic"}, fitted)

    assert seen == HookResult({"room": ["cellar"]})
    assert last.calls == [(LIGHT.name, {"room": ["cellar"]})]


async def test_who_only_sees_calls_that_were_said_yes_to_is_asked_of_those() -> None:
    class Watchful(Hooks):
        @override
        async def pre_approved_use(
            self, tool: ToolDefinition, arguments: JsonObject
        ) -> Deny | None:
            return Deny("Not now.")

    assert await chain(Watchful()).pre_approved_use(LIGHT, {}) == Deny("Not now.")
    assert (
        await chain(Watchful()).pre_tool_use(LIGHT, {}, lambda given: given)
    ).decision is None


async def test_who_was_given_a_say_later_is_asked() -> None:
    class Silent(Hooks):
        pass

    async def refuse(_: str) -> Deny:
        return Deny("Not now.")

    hook = Silent()
    vars(hook)["user_prompt_submit"] = refuse

    assert (await chain(hook).user_prompt_submit("Hi")).decision == Deny("Not now.")


TERMS = st.lists(st.text(st.sampled_from("ab\\\n,"), max_size=4), max_size=4)


@given(TERMS, TERMS)
def test_a_yes_covers_what_was_part_of_the_question(
    question: list[str], now: list[str]
) -> None:
    assert covers(join_terms(question), join_terms(now)) == (
        set(now) <= {"", *question}
    )


@given(TERMS, TERMS)
def test_other_terms_are_another_text(terms: list[str], others: list[str]) -> None:
    distinct, distinct_others = (
        [*dict.fromkeys(filter(None, each))] for each in (terms, others)
    )
    assert (join_terms(terms) == join_terms(others)) == (distinct == distinct_others)


@given(st.text(st.characters(exclude_characters="\\\n")))
def test_terms_of_one_line_stay_as_they_are(terms: str) -> None:
    assert join_terms([terms]) == terms


def test_a_part_of_somebodys_terms_is_not_those_terms() -> None:
    assert not covers(join_terms(["unlock\nfront door"]), join_terms(["unlock"]))
    assert not covers(join_terms(["front door, back door"]), join_terms(["front door"]))
