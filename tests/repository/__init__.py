"""Tests of the pages, scripts and files around the integration."""
