"""`python -m simulators.payments`: runs the provider until it is stopped.

Each option also comes from the environment as SIM_PAYMENTS_<NAME>; the option wins. Port 0 takes
a free one. The first line on stdout says where it listens, for whoever started it.
"""

import argparse
import os
import socket
import sys
from pathlib import Path

import uvicorn

from simulators.payments.app import create_app
from simulators.payments.config import PaymentsSimulatorConfig


def main(argv: list[str] | None = None) -> int:
    """Serve until stopped; return the exit code, 2 for missing or wrong options."""
    options = _parser().parse_args(argv)
    if not options.api_key:
        sys.stderr.write("no api key: give --api-key or SIM_PAYMENTS_API_KEY\n")
        return 2
    listener = socket.create_server((options.host, options.port))
    url = f"http://{options.host}:{listener.getsockname()[1]}"
    config = PaymentsSimulatorConfig(
        api_key=options.api_key,
        admin_secret=options.admin_secret or None,
        state=Path(options.state) if options.state else None,
        recipient_id=options.recipient_id,
        public_url=options.public_url or url,
        opening_balance_cents=options.opening_balance_cents,
    )
    sys.stdout.write(f"listening on {url}\n")
    sys.stdout.flush()
    server = uvicorn.Server(
        uvicorn.Config(create_app(config), log_level="warning", access_log=False)
    )
    server.run(sockets=[listener])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="simulators.payments", description=__doc__)
    parser.add_argument("--host", default=_env("HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=_env("PORT", "0"))
    parser.add_argument("--api-key", default=_env("API_KEY", ""))
    parser.add_argument("--admin-secret", default=_env("ADMIN_SECRET", ""))
    parser.add_argument("--state", default=_env("STATE", ""), help="SQLite file")
    parser.add_argument("--public-url", default=_env("PUBLIC_URL", ""))
    parser.add_argument("--recipient-id", default=_env("RECIPIENT_ID", "re_simulated"))
    parser.add_argument(
        "--opening-balance-cents", type=int, default=_env("OPENING_BALANCE_CENTS", "100000")
    )
    return parser


def _env(name: str, default: str) -> str:
    return os.environ.get(f"SIM_PAYMENTS_{name}", default)


if __name__ == "__main__":
    sys.exit(main())
