"""What an unexpected exception may tell: its type and where, never its words.

The trap: an exception's message may quote a row or a message of a person, and Temporal keeps
failure
messages in plain text in its history (facts/temporal.md §6). So the words stay out of histories and
logs; the type and the stack's places are enough for a programmer.
"""

import logging
import traceback
from typing import Any

import asyncpg
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from domain.errors import OperatorError

log = logging.getLogger(__name__)


def places(error: BaseException) -> list[str]:
    """The stack of the exception as file, line and function, without any text of it."""
    return [
        f"{one.filename}:{one.lineno} {one.name}"
        for one in traceback.extract_tb(error.__traceback__)
    ]


def may_pass(error: Exception) -> bool:
    """Whether trying again may help: the database is away, busy, or another transaction won. A
    value that no column can hold stays what it is."""
    passing = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
    return isinstance(error, passing) and not isinstance(error, asyncpg.DataError)


def permanent(name: str, error: Exception) -> ApplicationError:
    """Log the fault and return what tells Temporal not to try `name` again."""
    kind = type(error).__name__
    log.error(
        "activity failed for good",
        extra={"activity": name, "error": kind, "stack": places(error)[-6:]},
    )
    return ApplicationError(f"{name} failed: {kind}", type=kind, non_retryable=True)


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002  SDK's name
        try:
            return await self.next.execute_activity(input)
        except (ApplicationError, CancelledError):
            raise
        except OperatorError as error:  # names a setting or a file, never a person
            log.error("an operator has to act: %s", error)
            raise ApplicationError(
                str(error), type=type(error).__name__, non_retryable=True
            ) from None
        except Exception as error:
            name = activity.info().activity_type
            log.error(
                "activity failed",
                extra={
                    "activity": name,
                    "error": type(error).__name__,
                    "stack": places(error)[-6:],
                },
            )
            raise ApplicationError(
                f"{name} failed: {type(error).__name__}", type=type(error).__name__
            ) from None


class WordlessFailures(Interceptor):
    """Keeps exception texts out of Temporal's histories."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002  SDK's name
        """Wrap the activity."""
        return _Inbound(super().intercept_activity(next))
