"""What commands need besides the database: the deployment's tools, gateways and Temporal.

All by the settings of the worker. Where `aval up` runs on this machine, what it made for itself
(the simulated provider's key, the dev server's address) is read from its folder.
"""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import settings as settings_module
from activities.deps import Gateways
from activities.reconcile import Reconcile
from cli import environment as environment_module
from cli.commands import tools
from cli.stack import data_folder
from cli.stack.parties import DATABASE, PAYMENTS_KEY, Parties
from cli.stack.ports import HOST, Ports
from cli.stack.wiring import DEPLOYMENT
from gateways.registry import GatewayRegistry


def completed(environment: dict[str, str]) -> dict[str, str]:
    """The environment, with what a running `aval up` gives its parts where nothing else is set.

    Raises StackError where settings contradict each other.
    """
    if environment.get(DATABASE, "").strip():
        return environment
    parties = Parties.from_environment(environment)
    folder = environment_module.data_folder(environment)
    made = {"AVAL_DEPLOYMENT": DEPLOYMENT, **environment}
    if parties.payments:
        made[PAYMENTS_KEY] = data_folder.read_secrets(folder).payments_key
    if parties.temporal:
        made["TEMPORAL_ADDRESS"] = f"{HOST}:{Ports.from_environment(environment).temporal}"
        made["TEMPORAL_CONFIG_FILE"] = os.devnull
    return made


@contextmanager
def as_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """This process's environment for as long: secrets by name and Temporal's settings are read
    from there."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@asynccontextmanager
async def reconciling(environment: dict[str, str]) -> AsyncIterator[Reconcile]:
    """The deployment's tools and gateways; gateways are closed at the end. Raises SettingsError or
    ToolContractError for tools that cannot be loaded."""
    with as_environment(completed(environment)):
        gateways = Gateways(GatewayRegistry(), settings_module.read_secret)
        try:
            yield Reconcile(registry=tools.load(environment), gateways=gateways)
        finally:
            await gateways.aclose()
