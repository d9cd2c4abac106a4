"""Promises of the model room."""
