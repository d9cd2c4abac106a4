"""What can keep the embedded stack from running, said to whoever started it."""

from domain.errors import OperatorError


class StackError(OperatorError):
    """A part may not run as asked; the message says which, why, and what to do."""


class PartError(StackError):
    """A part died or never became ready. The message has several lines: its log's last ones."""
