"""The demo's people: what they type and press, and what the far side counted afterwards."""
