"""Items of the Responses API ⇄ the canonical transcript."""
