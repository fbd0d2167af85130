"""The agentic loop: the state machine of a turn, its runner, inference and tool execution."""
