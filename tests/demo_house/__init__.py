"""Tests of the demo house: the integration under `demo/custom_components`, and the homes that it builds."""
