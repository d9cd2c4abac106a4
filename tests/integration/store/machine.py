"""The three machines of one connection: what people do, what workers do, what operators do."""

from collections.abc import Sequence
from typing import ClassVar

from tests.integration.store.beginnings import PEOPLE, STUCK, WORKERS
from tests.integration.store.machine_executing import ExecutingMachine
from tests.integration.store.machine_operating import OperatingMachine
from tests.integration.store.machine_talking import TalkingMachine


class PeopleMachine(TalkingMachine):
    """What people say and press, and what models propose meanwhile."""

    beginnings: ClassVar[Sequence[str]] = (*PEOPLE, "seen", "seen")
    weights: ClassVar[dict[str, int]] = {
        "phone": 16,
        "click": 10,
        "decide": 10,
        "time_passes": 10,
        "propose": 6,
        "prompt": 8,
        "ask": 4,
        "answer": 6,
        "deliver": 6,
        "burst_ends": 6,
        "sweep": 3,
        "propose_again": 2,
        "trouble": 2,
    }


class WorkersMachine(ExecutingMachine):
    """What workers do, while people press."""

    beginnings: ClassVar[Sequence[str]] = tuple(WORKERS)
    weights: ClassVar[dict[str, int]] = {
        "work": 24,
        "stall": 8,
        "confirm": 6,
        "write": 10,
        "provider_acts": 8,
        "look": 5,
        "write_look": 5,
        "decide": 6,
        "click": 4,
        "propose": 4,
        "time_passes": 6,
        "sweep": 2,
        "propose_again": 1,
    }


class OperatorsMachine(OperatingMachine):
    """What workers and operators do."""

    beginnings: ClassVar[Sequence[str]] = tuple(STUCK)
    weights: ClassVar[dict[str, int]] = {
        "say": 12,
        "investigate": 6,
        "operator_looks": 6,
        "restore": 1,
        "work": 14,
        "stall": 8,
        "write": 8,
        "provider_acts": 6,
        "look": 4,
        "write_look": 4,
        "decide": 6,
        "click": 2,
        "propose": 2,
        "time_passes": 8,
        "sweep": 2,
        "confirm": 1,
        "propose_again": 0,
    }
