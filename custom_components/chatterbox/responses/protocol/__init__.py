"""The OpenAI-compatible Responses API, without HTTP and Home Assistant: JSON in, JSON and events out."""
