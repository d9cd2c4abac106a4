"""Timeouts and retries of every activity, in one table, each with its reason.

Local activities are SQL only, idempotent, and retried for ever: the database may be away for a
while, and nothing is lost by waiting. Regular ones touch the world. A recovery after SIGKILL stays
under seven seconds because every interval here is at most five (design §9, facts/spike.md).
"""

from datetime import timedelta
from typing import Any

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType

CONVERSATIONS = "aval-conversations"
EXECUTIONS = "aval-executions"
"""The two task queues: slow models must never delay money."""

_SQL_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=5),  # a database that is back is used within five seconds
)

TASK_TIMEOUT = timedelta(seconds=5)
"""Then a dead worker's workflow task is given to another; Temporal's own ten seconds were the whole
wait after a kill in *decide* (facts/spike.md). A longer local activity keeps its task by itself."""

HEARTBEAT = timedelta(seconds=4)
"""Every regular activity beats each second (activities/heartbeats.py): a dead worker shows in four,
not when its activity's whole time is over."""

SQL: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=10),  # a statement of ours takes milliseconds
    "retry_policy": _SQL_RETRY,
    # shorter than a workflow task's timeout: a longer pause becomes a durable timer
    "local_retry_threshold": timedelta(seconds=3),
}

THINK: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=60),  # the client gives up after 45 s
    "schedule_to_close_timeout": timedelta(minutes=3),  # whoever waits longer has left
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1),
        backoff_coefficient=2.0,
        maximum_interval=timedelta(seconds=20),
    ),
}

HEAR: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=60),  # a download of 20 s and a hearing of 30 s
    "schedule_to_close_timeout": timedelta(seconds=90),  # then he is asked to write instead
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1),
        maximum_interval=timedelta(seconds=5),
        maximum_attempts=3,  # he waits for an answer meanwhile
    ),
}

LOOK_UP: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=20),  # reads of our own database, or a read call
    "schedule_to_close_timeout": timedelta(minutes=2),
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(maximum_interval=timedelta(seconds=5)),
}

SEND: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=60),  # three messages of at most 15 s each
    "schedule_to_close_timeout": timedelta(seconds=90),  # afterwards the sweeper rings
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=5)
    ),
}

EXECUTE: dict[str, Any] = {
    "task_queue": EXECUTIONS,
    "start_to_close_timeout": timedelta(seconds=75),  # revalidate, 20 s at the provider, writing
    # no worker took it: certainly never begun, so the next look at the rows decides again
    "schedule_to_start_timeout": timedelta(seconds=10),
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(maximum_attempts=1),  # only rows say whether another may begin
    "cancellation_type": ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
}

SETTLE: dict[str, Any] = {
    "task_queue": EXECUTIONS,
    "start_to_close_timeout": timedelta(seconds=40),  # one read at the provider, at most 20 s
    "heartbeat_timeout": HEARTBEAT,
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=5)
    ),
}

QUIET = timedelta(seconds=2)  # a person who types in pieces pauses for less (facts/whatsapp.md §7)
LONGEST_BURST = timedelta(seconds=10)  # then he is answered even if he goes on typing
MOST_STEPS = 6  # model calls a turn; the last one without tools (facts/claude.md §5)
MOST_USELESS_ANSWERS = 1  # empty or cut ones a turn; the next answers by template, not by cost
DIRECT_WAIT = timedelta(seconds=30)  # how long a turn waits for a direct tool's action
LONGEST_PAUSE = timedelta(seconds=20)  # an action is fresh for 120 s: six more tries at least
SHORTEST_WAIT = timedelta(seconds=1)  # timers under a second fire at a second anyway
