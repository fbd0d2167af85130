"""Tests of the demo house: the integration under `demo/config/custom_components`, and the homes that it builds."""
