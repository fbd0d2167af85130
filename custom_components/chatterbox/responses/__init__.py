"""The HTTP API: OpenAI's Responses API over Home Assistant's web server, and the turns that its clients take."""
