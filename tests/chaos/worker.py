"""A test's worker: the product's own worker process with points put around it from outside.

`CHAOS_FOLDER` names the folder of orders (points.py), `CHAOS_BREAK` a guard to leave out
(guards.py). Everything else is the product's.
"""

import os

import worker
from domain.process import leave
from tests.chaos.bounds import end_with_parent
from tests.chaos.guards import Guard, break_in_worker
from tests.chaos.points import Orders, install


def main() -> int:
    """The exit code of the worker."""
    end_with_parent()
    if name := os.environ.get("CHAOS_BREAK"):
        break_in_worker(Guard(name))
    install(Orders.from_environment())
    return worker.main()


if __name__ == "__main__":
    leave(main())
