"""Tests of `workflows` that need no Temporal."""
