"""Sentences that people say in homes of 2,000 things, in several languages, and which thing each of them means."""
