"""*look_up*: the read tools of an answer run and go back to the model. Reads write nothing of their
own; their results are kept so that a retry need not read twice."""

from temporalio import activity

from activities import calls
from activities.deps import Deps
from activities.messages import StepRef
from domain.errors import ToolInputError
from domain.history import ToolResult
from llm.answers import ToolCall
from store import turns
from store.connection import read_only
from store.turns import Turn
from tools.contract import ReadTool


class LookUp:
    """Answers the reads of a step; also calls that can only get an error."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="look_up")
    async def run(self, ref: StepRef) -> None:
        """Run the reads. If no effect stands beside them, the step's history is written too."""
        async with self._deps.pool.acquire() as connection:
            turn = await turns.read(connection, ref.turn_id)
            stored = await turns.stored_answer(connection, turn=ref.turn_id, step=ref.step)
        assert stored is not None, "look_up runs after think stored its answer"
        answer = calls.read_answer(stored)
        results = [await self._result(turn, call) for call in answer.calls if self._mine(call)]
        async with self._deps.pool.acquire() as connection, connection.transaction():
            await turns.store_read_results(
                connection,
                turn=turn.id,
                step=ref.step,
                results=[one.model_dump(mode="json") for one in results],
            )
            if len(results) == len(answer.calls):
                await turns.lock_conversation(connection, turn.conversation_id)
                await calls.write(connection, turn, calls.pair(turn, ref.step, answer, results))

    def _mine(self, call: ToolCall) -> bool:
        return not calls.is_effect(self._deps.registry, call)

    async def _result(self, turn: Turn, call: ToolCall) -> ToolResult:
        try:
            tool = calls.offered_tool(self._deps.registry, turn, call)
            assert isinstance(tool, ReadTool)
            data = calls.validated(turn, tool, call)
            async with read_only(self._deps.pool) as db:
                return calls.data_result(call, await tool.look_up(data, turn.who, db))
        except ToolInputError as error:
            return calls.error_result(call, str(error))
