"""Tests of the surface of the Responses API, without HTTP and without Home Assistant."""
