"""Rules for what needs a yes, the questions and their answers, and the audit of what changed."""
