"""The three machines of one connection: what people do, what workers do, what operators do."""

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.integration.store.beginnings import PEOPLE, STUCK, WORKERS
from tests.integration.store.bench import without
from tests.integration.store.machine_executing import ExecutingMachine
from tests.integration.store.machine_operating import OperatingMachine
from tests.integration.store.machine_talking import TalkingMachine

ToTheEnd = st.sampled_from([False, False, True])
"""Whether the sweeper brings all to its end after the drawn steps, which costs as much as they."""


class PeopleMachine(TalkingMachine):
    """What people say and press, and what models propose meanwhile."""

    @initialize(so_far=st.sampled_from(list(PEOPLE)), to_the_end=ToTheEnd)
    def begin(self, so_far: str, to_the_end: bool) -> None:
        """In the midst of an action's life."""
        self.to_the_end = to_the_end
        self.sit(self.bench.seats[so_far])


class WorkersMachine(ExecutingMachine):
    """What workers do, while people press."""

    @initialize(so_far=st.sampled_from(list(WORKERS)), to_the_end=ToTheEnd)
    def begin(self, so_far: str, to_the_end: bool) -> None:
        """In the midst of an action's life."""
        self.to_the_end = to_the_end
        self.sit(self.bench.seats[so_far])


@without("propose_again", "confirm", "sweep")
class OperatorsMachine(OperatingMachine):
    """What workers and operators do."""

    @initialize(so_far=st.sampled_from(list(STUCK)), to_the_end=ToTheEnd)
    def begin(self, so_far: str, to_the_end: bool) -> None:
        """In the midst of an action's life."""
        self.to_the_end = to_the_end
        self.sit(self.bench.seats[so_far])
