"""What the model may ask for: one file a tool, named verb_noun; `registry.py` loads them."""
