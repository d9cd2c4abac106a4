"""Who gets which environment: the far side nothing of ours, the demo no credential at all."""

import os
from pathlib import Path

import pytest

from cli.stack.data_folder import Secrets
from cli.stack.parties import Parties
from cli.stack.ports import Ports
from cli.stack.processes import Child
from cli.stack.wiring import Wiring, bare

POISON = {
    "ANTHROPIC_API_KEY": "sk-ant-real",
    "AVAL_WHATSAPP_TOKEN": "EAAreal",
    "AVAL_PAGARME_API_KEY": "sk_live_real",
    "AVAL_DATABASE_URL": "postgresql://prod/aval",
    "TEMPORAL_ADDRESS": "prod:7233",
    "TEMPORAL_API_KEY": "real",
    "AWS_SECRET_ACCESS_KEY": "real",
    "HTTPS_PROXY": "http://proxy:3128",
}


def _wiring(environment: dict[str, str], tmp_path: Path) -> Wiring:
    return Wiring(
        data=tmp_path,
        environment=environment,
        parties=Parties.from_environment(environment),
        ports=Ports.from_environment({}),
        secrets=Secrets(),
        dsn="postgresql://postgres@/aval?host=/somewhere",
        temporal_address="127.0.0.1:7233",
    )


def test_only_what_a_program_needs_passes_into_the_demo() -> None:
    """No credential, no address of a real party, not even one that is unknown to us."""
    assert bare({**POISON, "PATH": "/bin", "LANG": "C.UTF-8"}) == {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
    }


def test_simulators_get_nothing_of_ours(tmp_path: Path) -> None:
    """They are the far side: with our database's address they would be no judge of anything."""
    environment = {"PATH": "/bin", "AVAL_MY_KEY": "mine"}
    for child in _wiring(environment, tmp_path).simulators():
        given = _environment(child)
        assert {name for name in given if not name.startswith(("SIM_", "PYTHON"))} == {"PATH"}


def test_an_embedded_temporal_is_reached_without_the_users_own_settings(tmp_path: Path) -> None:
    """A temporal.toml or an API key of a real server must not be used for the dev server."""
    made = _wiring({"TEMPORAL_API_KEY": "real", "PATH": "/bin"}, tmp_path).product()
    names = {name: value for name, value in made.items() if name.startswith("TEMPORAL_")}
    assert names == {"TEMPORAL_ADDRESS": "127.0.0.1:7233", "TEMPORAL_CONFIG_FILE": os.devnull}


def test_a_real_temporal_keeps_its_settings(tmp_path: Path) -> None:
    """`TEMPORAL_*` alone decides, as Temporal documents it."""
    environment = {"TEMPORAL_ADDRESS": "cloud:7233", "TEMPORAL_API_KEY": "real"}
    made = _wiring(environment, tmp_path).product()
    assert (made["TEMPORAL_ADDRESS"], made["TEMPORAL_API_KEY"]) == ("cloud:7233", "real")


def test_a_proxy_is_not_asked_for_our_own_addresses(tmp_path: Path) -> None:
    """Behind a company's proxy the parts still find each other."""
    made = _wiring({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "corp"}, tmp_path).product()
    assert made["NO_PROXY"] == made["no_proxy"] == "corp,127.0.0.1,localhost"


def test_no_secret_stands_on_a_command_line(tmp_path: Path) -> None:
    """Everybody on the machine may read arguments."""
    wiring = _wiring({}, tmp_path)
    for child in (*wiring.simulators(), *wiring.workers()):
        words = " ".join(child._command)
        assert not any(secret in words for secret in vars(wiring.secrets).values())


def test_folders_of_the_user_are_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts run in Aval's own folder; AVAL_PATH is meant from where the user stands."""
    monkeypatch.chdir(tmp_path)
    made = _wiring({"AVAL_PATH": "mine"}, tmp_path).product()
    assert made["AVAL_PATH"] == str(tmp_path.resolve() / "mine")


def _environment(child: Child) -> dict[str, str]:
    return child._environment


def test_worker_and_api_serve_their_metrics_on_ports_of_their_own(tmp_path: Path) -> None:
    """One port given is two used: the second process could not start otherwise. None stays none."""
    ports = [
        child._environment.get("AVAL_METRICS_PORT")
        for given in ("9400", "0")
        for child in _wiring({"AVAL_METRICS_PORT": given}, tmp_path).workers()
    ]
    assert ports == ["9401", "9400", "0", "0"]
