"""What a voice should say, as tests in several languages."""
