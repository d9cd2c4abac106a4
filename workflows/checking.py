"""What Temporal and the rows do not agree on, for `aval doctor`. Reads only."""

from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from domain import ids
from store import checking
from store.checking import Finding
from store.connection import Connection

FAILING_FROM = 3
"""Tries of one workflow task: a dead worker costs one, a bad deploy never stops."""

MOST_RUNNING = 2000

_HEAD = ids.action_workflow_id("")


async def findings(client: Client, connection: Connection, overdue: list[str]) -> list[Finding]:
    """Overdue actions without a live workflow, live workflows whose action is over, and workflows
    whose task fails again and again. Raises RPCError if Temporal is out of reach."""
    found = [
        Finding(kind="no workflow", row=one, what="overdue, and no workflow lives for it")
        for one in overdue
        if await _running(client, ids.action_workflow_id(one)) is None
    ]
    running = [one.id async for one in client.list_workflows(_RUNNING, limit=MOST_RUNNING)]
    of_actions = [one.removeprefix(_HEAD) for one in running if one.startswith(_HEAD)]
    over = await checking.ended(connection, of_actions)
    for workflow_id in running:
        described = await _running(client, workflow_id)
        if described is None:
            continue  # visibility lags behind; it has ended
        if (action := workflow_id.removeprefix(_HEAD)) in over:
            found.append(Finding(kind="workflow", row=action, what="lives although it is over"))
        if (tries := _tries(described)) >= FAILING_FROM:
            found.append(
                Finding(
                    kind="workflow task",
                    row=workflow_id,
                    what=f"fails, {tries} tries: terminate it, and the sweeper starts it anew",
                )
            )
    return found


_RUNNING = (
    "ExecutionStatus = 'Running' AND WorkflowType IN ('PendingActionWorkflow', 'TurnWorkflow')"
)


async def _running(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    try:
        described = await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
    return described if described.status is WorkflowExecutionStatus.RUNNING else None


def _tries(described: WorkflowExecutionDescription) -> int:
    """0 if no task waits. A task that only waits for a worker is at its first try."""
    return described.raw_description.pending_workflow_task.attempt
