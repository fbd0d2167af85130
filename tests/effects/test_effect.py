"""Effects of several calls are one, and keep what is unknown."""

from custom_components.chatterbox.agent.messages import ToolAnnotations
from custom_components.chatterbox.effects.effect import (
    Annotated,
    EntityAction,
    Touches,
    Unknown,
    UnknownReason,
    Unresolved,
    actions_of,
    joined,
)


def test_effects_are_joined_with_what_is_unknown() -> None:
    one, other = (
        EntityAction("lock.a", "lock.lock"),
        EntityAction("lock.b", "lock.lock"),
    )
    unknown = Unknown(UnknownReason.SENTENCE)

    assert joined([Touches(frozenset({one})), Touches(frozenset({other}))]) == Touches(
        frozenset({one, other})
    )
    both = joined(
        [
            Touches(frozenset({one})),
            Unresolved(frozenset({unknown}), frozenset({other})),
        ]
    )
    assert both == Unresolved(frozenset({unknown}), frozenset({one, other}))
    assert actions_of(both) == {one, other}
    assert actions_of(Annotated(ToolAnnotations())) == frozenset()
