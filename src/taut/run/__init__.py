"""Runs: step after step."""
