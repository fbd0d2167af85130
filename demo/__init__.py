"""The demo: a real Home Assistant with a home to talk to, for people and for tests; `script/demo` runs it."""
