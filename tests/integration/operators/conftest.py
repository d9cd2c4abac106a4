"""The world of the store's tests, with an operator in it."""

import pytest

from tests.integration.operators.desk import Desk
from tests.integration.store.conftest import payments_url, world
from tests.integration.store.kit import World

__all__ = ["payments_url", "world"]


@pytest.fixture
def desk(world: World) -> Desk:
    """The operator's desk of this world."""
    return Desk(world=world)
