"""The SQL store of turns, audit records and responses, on SQLite or PostgreSQL."""
