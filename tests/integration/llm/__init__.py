"""The model room against the model's stand-in."""
