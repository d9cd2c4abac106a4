"""The environments and commands of the parts: how each learns of the others.

Secrets travel by environment, never as arguments, which every user of the machine may read. The
simulators get nothing of ours: they are the far side.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.stack.data_folder import Secrets
from cli.stack.parties import PAYMENTS_KEY, Parties
from cli.stack.ports import HOST, Ports
from cli.stack.processes import Child, Ready, answers, says

ROOT = Path(__file__).resolve().parents[2]
WEBHOOK = "/webhooks/whatsapp"
PHONE_NUMBER_ID = "100200300400500"
DISPLAY_NUMBER = "551140000000"
RECIPIENT = "re_simulated"
DEPLOYMENT = "local"
_OURS_TO_INHERIT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "VIRTUAL_ENV")
_PATHS = ("AVAL_PATH", "AVAL_PROMPTS")
METRICS_PORT = "AVAL_METRICS_PORT"


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """Only what a program needs to run: no credential passes an allow list."""
    return {name: environment[name] for name in _OURS_TO_INHERIT if name in environment}


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """What all parts of one stack have to know."""

    data: Path
    environment: Mapping[str, str]
    parties: Parties
    ports: Ports
    secrets: Secrets
    dsn: str
    temporal_address: str

    def url(self, part: str) -> str:
        """Where a part with a port answers HTTP."""
        return f"http://{HOST}:{getattr(self.ports, part)}"

    @property
    def phone_page(self) -> str:
        """The phone page with its key."""
        return f"{self.url('whatsapp')}/phone?key={self.secrets.page_key}"

    def product(self) -> dict[str, str]:
        """The environment of worker and API."""
        made = dict(self.environment)
        made.setdefault("AVAL_DEPLOYMENT", DEPLOYMENT)
        made["AVAL_DATABASE_URL"] = self.dsn
        made.setdefault("AVAL_API_HOST", HOST)
        made["AVAL_API_PORT"] = str(self.ports.api)
        for name in _PATHS:
            if made.get(name):
                made[name] = str(Path(made[name]).resolve())  # the parts run in our own folder
        if self.parties.temporal:
            made = {k: v for k, v in made.items() if not k.startswith("TEMPORAL_")}
            made["TEMPORAL_ADDRESS"] = self.temporal_address
            made["TEMPORAL_CONFIG_FILE"] = (
                os.devnull
            )  # a temporal.toml names somebody else's server
        if self.parties.whatsapp:
            made["AVAL_WHATSAPP_TOKEN"] = self.secrets.whatsapp_token
            made["AVAL_WHATSAPP_APP_SECRET"] = self.secrets.whatsapp_app_secret
            made["AVAL_WHATSAPP_VERIFY_TOKEN"] = self.secrets.whatsapp_verify_token
            made["AVAL_WHATSAPP_BASE_URL"] = self.url("whatsapp")
        if self.parties.claude:
            made["ANTHROPIC_API_KEY"] = self.secrets.claude_key
            made["ANTHROPIC_BASE_URL"] = self.url("claude")
        if self.parties.payments:
            made[PAYMENTS_KEY] = self.secrets.payments_key
        # a proxy of the user's must not be asked for our own loopback addresses
        near = [made.get("NO_PROXY", ""), HOST, "localhost"]
        made["NO_PROXY"] = made["no_proxy"] = ",".join(part for part in near if part)
        return made

    def simulators(self) -> list[Child]:
        """One child for each simulated party."""
        made = []
        if self.parties.whatsapp:
            made.append(self._simulator("whatsapp", "WhatsApp (simulated)", self._whatsapp()))
        if self.parties.claude:
            made.append(self._simulator("claude", "Claude (simulated)", self._claude()))
        if self.parties.payments:
            made.append(self._simulator("payments", "Payments (simulated)", self._payments()))
        return made

    def workers(self) -> list[Child]:
        """The API and the worker."""
        product = self.product()
        if product.get("AVAL_LOG_LEVEL") in {"WARNING", "ERROR"}:
            product["AVAL_LOG_LEVEL"] = "INFO"  # the worker has no port: its log says that it works
        if (port := product.get(METRICS_PORT, "").strip()).isdecimal() and int(port):
            product[METRICS_PORT] = str(int(port) + 1)  # the API serves the first
        return [
            self._python("Worker", ["-m", "worker"], product, says('"worker ready"')),
            self._python(
                "API", ["-m", "api"], self.product(), answers(f"{self.url('api')}/health/ready")
            ),
        ]

    def _whatsapp(self) -> dict[str, str]:
        return {
            "WEBHOOK_URL": f"{self.url('api')}{WEBHOOK}",
            "APP_SECRET": self.secrets.whatsapp_app_secret,
            "TOKEN": self.secrets.whatsapp_token,
            "PHONE_NUMBER_ID": PHONE_NUMBER_ID,
            "DISPLAY_PHONE_NUMBER": DISPLAY_NUMBER,
            "PAGE_SECRET": self.secrets.page_key,
            "STATE": str(self.data / "whatsapp.sqlite"),
        }

    def _claude(self) -> dict[str, str]:
        return {
            "KEY": self.secrets.claude_key,
            "ADMIN_SECRET": self.secrets.claude_admin,
            "STATE": str(self.data / "claude.jsonl"),
        }

    def _payments(self) -> dict[str, str]:
        return {
            "API_KEY": self.secrets.payments_key,
            "ADMIN_SECRET": self.secrets.payments_admin,
            "STATE": str(self.data / "payments.sqlite"),
            "RECIPIENT_ID": RECIPIENT,
        }

    def _simulator(self, part: str, name: str, options: Mapping[str, str]) -> Child:
        environment = bare(self.environment) | {
            f"SIM_{part.upper()}_{option}": value
            for option, value in {
                **options,
                "HOST": HOST,
                "PORT": str(getattr(self.ports, part)),
            }.items()
        }
        path = "/healthz" if part == "payments" else "/health"
        ready = answers(f"{self.url(part)}{path}")
        return self._python(name, ["-m", f"simulators.{part}"], environment, ready)

    def _python(
        self, name: str, arguments: list[str], environment: Mapping[str, str], ready: Ready
    ) -> Child:
        file = name.split(" ")[0].lower()
        return Child(
            name,
            [sys.executable, *arguments],
            log=self.data / "logs" / f"{file}.log",
            environment={**environment, "PYTHONUNBUFFERED": "1"},
            ready=ready,
            folder=ROOT,
        )
