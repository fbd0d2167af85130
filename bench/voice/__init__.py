"""A real recogniser hears a real voice."""
