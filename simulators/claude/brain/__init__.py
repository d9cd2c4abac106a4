"""The rule brain: a deterministic stand-in for the model's judgement, in Brazilian Portuguese.

It knows the bundled scheduling and payment tools by name, calls only what the request offers, and
is as gullible as a model may be; safety must never rest on it.
"""

from simulators.claude.brain.brain import think

__all__ = ["think"]
