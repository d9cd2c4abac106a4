"""What can keep the embedded stack from running, said to whoever started it."""

from domain.errors import OperatorError


class StackError(OperatorError):
    """A part could not start, died, or may not run as asked; the message says which and why."""
