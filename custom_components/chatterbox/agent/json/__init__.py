"""JSON as models write it: text, repair, coercion to a schema, arguments of calls."""
