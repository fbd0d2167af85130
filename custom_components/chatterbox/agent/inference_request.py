"""What a model is asked in one inference, from where the turn stands.

Pure. Knows states, steps and the words that tell a model what it got wrong or has to do now; no provider, no clock.
"""

from dataclasses import replace
from operator import attrgetter
from typing import Final

from .answer_options import AnswerOptions
from .next_step import CallModel, TurnState
from .protocols import CompletionRequest

_LAST_CALL_DIRECTIVE: Final = "Tools can no longer be used in this turn. Answer now, from what is known."
_REPORT_DIRECTIVE: Final = " Say briefly what was done and what was not."
_REPAIR_DIRECTIVE: Final = "Your answer cannot be used. {misfit} Give the whole answer again, with that put right."
_CORRECTION_DIRECTIVE: Final = (
    'You were about to say: "{withheld}"\n'
    "No tool has done that, so nobody heard it. If it is to be done, call the tool for it now."
    " Otherwise say plainly, in the language of the person, that it was not done."
    " Do not mention this note."
)
_HEARD_DIRECTIVE: Final = 'The person has heard only this, go on from there: "{said}"'
_QUOTED_LENGTH: Final = 1_000
"""Characters of an answer that are shown to the model again."""


def request_for(state: TurnState, step: CallModel) -> CompletionRequest:
    """Return what the model is asked, when the step is taken from this state."""
    turn = state.turn
    # The words of this turn bring its context; a continuation has none.
    context = turn.context if turn.user_text is None else ""
    unfit = (state.answer,) if step.repairs and state.answer else ()
    return CompletionRequest(
        instructions="\n\n".join(filter(None, (turn.instructions, turn.output.told if turn.output else ""))),
        transcript=turn.history + state.messages + unfit,
        tools=tuple(sorted(turn.tools, key=attrgetter("name"))),
        tool_choice=step.tool_choice,
        directive="\n\n".join(filter(None, (context, _directive(state, step)))),
        output=turn.output,
        summary=turn.summary,
        may_be_cut=turn.may_be_shortened,
        options=_options(state),
        may_be_shortened=turn.may_be_shortened,
    )


def _options(state: TurnState) -> AnswerOptions:
    """Return the wishes of the turn, the answer no longer than what is left for it."""
    options, left = state.turn.options, state.tokens_left
    if left is None:
        return options
    asked = options.max_output_tokens
    return replace(options, max_output_tokens=left if asked is None else min(left, asked))


def _directive(state: TurnState, step: CallModel) -> str:
    if step.corrects:
        return _correction(state)
    if step.repairs:
        return _REPAIR_DIRECTIVE.format(misfit=state.misfit)
    if step.last_call is None:
        return ""
    return _LAST_CALL_DIRECTIVE + ("" if state.turn.output else _REPORT_DIRECTIVE)


def _correction(state: TurnState) -> str:
    """Tell the model what it claimed, and what of its answer was heard."""
    correction = _CORRECTION_DIRECTIVE.format(withheld=state.withheld.strip()[:_QUOTED_LENGTH])
    said = state.answer.text.strip()[-_QUOTED_LENGTH:] if state.answer else ""
    return f"{correction}\n{_HEARD_DIRECTIVE.format(said=said)}" if said else correction
