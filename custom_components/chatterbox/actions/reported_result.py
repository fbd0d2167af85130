"""The answer of an agent together with the report of its turn, for who has called us and wants to know more.

Home Assistant hands a `ConversationResult` on as it is, so the report of a turn comes back to whoever began it, and
nobody has to guess which turn was theirs.
"""

from dataclasses import dataclass
from typing import Final

from homeassistant.components.conversation import ConversationResult

from ..agent.messages import JsonObject
from ..records.facts import usage_as_json
from ..records.report import TurnReport, parsed_content, shown_arguments
from ..turns.trace import times_of

_TIMINGS: Final = ("duration", "first_words", "phases", "inferences", "tools")


@dataclass(slots=True, kw_only=True)
class ReportedResult(ConversationResult):
    """What is said, and what the turn did."""

    report: TurnReport

    def as_response(self) -> JsonObject:
        """Return the whole turn for an automation, uncut; `docs/using.md` describes it."""
        report, facts = self.report, self.report.facts.as_json()
        return {
            "conversation_id": self.conversation_id,
            "continue_conversation": self.continue_conversation,
            "speech": self.response.speech.get("plain", {}).get("speech", ""),
            "tool_calls": [
                {
                    "name": report.calls[result.call_id].name,
                    "arguments": shown_arguments(report.calls[result.call_id]),
                    "result": parsed_content(result),
                    "is_error": result.is_error,
                }
                for result in report.results
            ],
            "withheld": "\n".join(report.withheld),
            "handovers": [{"to": one.provider, "reason": one.reason} for one in report.handovers],
            "stop_reason": facts["stop_reason"],
            "error": facts["error"],
            "iterations": facts["iterations"],
            "usage": usage_as_json(report.facts.usage),
            "timings": {name: facts[name] for name in _TIMINGS},
        }


def reported(result: ConversationResult, report: TurnReport) -> ReportedResult:
    """Return a result with the report of its turn, of which people see the times where they look into it."""
    for speech in result.response.speech.values():
        speech["extra_data"] = times_of(report.facts)
    return ReportedResult(
        response=result.response,
        conversation_id=result.conversation_id,
        continue_conversation=result.continue_conversation,
        report=report,
    )
