"""Effects of several calls are one, and keep what is unknown."""

from custom_components.chatterbox.agent.messages import ToolAnnotations
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
    joined,
)


def test_effects_are_joined_with_what_is_unknown() -> None:
    one, other = (
        EntityAction("lock.a", "lock.lock"),
        EntityAction("lock.b", "lock.lock"),
    )
    unknown = Unknown(UnknownReason.SENTENCE)

    assert joined([Effects(frozenset({one})), Effects(frozenset({other}))]) == Effects(
        frozenset({one, other})
    )
    both = joined(
        [
            Effects(frozenset({one})),
            Effects(unknowns=frozenset({unknown}), actions=frozenset({other})),
        ]
    )
    assert both == Effects(
        unknowns=frozenset({unknown}), actions=frozenset({one, other})
    )
    assert both.actions == {one, other}
    assert Effects(annotations=ToolAnnotations()).actions == frozenset()
