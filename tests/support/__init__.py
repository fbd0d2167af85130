"""Support for several tests: doubles, servers, a demo home to talk to."""
