"""Three tools, a call of each, and a turn that may use them: what the walks of a turn are tried with."""

from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import ToolCall
from tests.support.doubles import tool

LIGHT, LOCK, PAGE = tool("light_on"), tool("unlock"), tool("show_page", client=True)
ON = ToolCall("1", "light_on", "{}")
UNLOCK = ToolCall("2", "unlock", "{}")
SHOW = ToolCall("3", "show_page", "{}")
TURN = Turn("Light!", tools=(LIGHT, LOCK, PAGE))
