"""What several tests use: doubles, servers, a demo home to talk to."""
