"""What becomes of a conversation that grows: the part of it that is sent, and what stands in place of the rest.

Knows transcripts and providers; must not know where a conversation is kept, or how a turn is driven.
"""
