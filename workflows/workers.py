"""The two workers of a process: conversations, and executions apart, so that slow models never
delay
money. The sandbox is on and raises on any import that was not passed through on purpose."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

from activities.closing import Answer, Apologise, Close
from activities.decide import Decide
from activities.deps import Deps
from activities.execute import Execute
from activities.failures import WordlessFailures
from activities.hear import Hear
from activities.heartbeats import Heartbeats
from activities.look_up import LookUp
from activities.propose import Propose
from activities.report import Report
from activities.sending import Announce
from activities.settle import Settle
from activities.take import Take
from activities.think import Think
from workflows import options
from workflows.pending_action import PendingActionWorkflow
from workflows.turn import TurnWorkflow

QUEUES = {"conversations": options.CONVERSATIONS, "executions": options.EXECUTIONS}

STICKY_TIMEOUT = timedelta(seconds=2)  # a dead worker's cached workflows move after two seconds
GRACE = timedelta(seconds=30)  # longer than a call at a provider, so that none is cut off
EXECUTIONS_AT_ONCE = (
    50  # each holds a database connection for milliseconds and a socket for its call
)


OURS = {"activities", "domain", "workflows.options"}
"""What workflow files may import: named once more here, since a sibling that is reached through its
package would otherwise be loaded anew for every run."""


def sandbox() -> SandboxedWorkflowRunner:
    """The workflow runner: any import that was not passed through on purpose raises."""
    restrictions = SandboxRestrictions.default
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions(
            passthrough_modules=restrictions.passthrough_modules | OURS,
            invalid_modules=restrictions.invalid_modules,
            invalid_module_members=restrictions.invalid_module_members,
            import_notification_policy=(
                SandboxImportNotificationPolicy.WARN_ON_DYNAMIC_IMPORT
                | SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH
            ),
        )
    )


def conversation_activities(deps: Deps) -> Sequence[Callable[..., Any]]:
    """What runs beside the workflows of turns and actions."""
    announce = Announce(deps)
    return [
        Take(deps).run,
        Hear(deps).run,
        Think(deps).run,
        LookUp(deps).run,
        Propose(deps).run,
        Report(deps).run,
        Answer(deps).run,
        Apologise(deps).run,
        Close(deps).run,
        Decide(deps).run,
        announce.run,
        announce.prompt,
    ]


def execution_activities(deps: Deps) -> Sequence[Callable[..., Any]]:
    """What moves money or looks for it."""
    return [Execute(deps).run, Settle(deps).run]


def build_workers(client: Client, deps: Deps, queues: Sequence[str]) -> list[Worker]:
    """The workers for the named queues. Raises KeyError for a name that is not in QUEUES."""
    return [_build(client, deps, QUEUES[name]) for name in queues]


def _build(client: Client, deps: Deps, queue: str) -> Worker:
    if queue == options.CONVERSATIONS:
        return Worker(
            client,
            task_queue=queue,
            workflows=[TurnWorkflow, PendingActionWorkflow],
            activities=conversation_activities(deps),
            workflow_runner=sandbox(),
            sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
            graceful_shutdown_timeout=GRACE,
            interceptors=[WordlessFailures(), Heartbeats()],
        )
    return Worker(
        client,
        task_queue=queue,
        activities=execution_activities(deps),
        max_concurrent_activities=EXECUTIONS_AT_ONCE,
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=GRACE,
        interceptors=[WordlessFailures(), Heartbeats()],
    )
