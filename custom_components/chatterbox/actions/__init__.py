"""The actions of Chatterbox that automations and people call: ask, approve, deny, purge, export."""
