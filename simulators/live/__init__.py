"""People who talk to the real model: what they write and press, and what the far side counted.

The wording of a real model is nobody's promise, so nothing here depends on it; what is judged is
what must hold whatever the model says.
"""
