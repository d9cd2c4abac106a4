"""`python -m simulators.claude --port 8101`; every option also as SIM_CLAUDE_<OPTION>."""

import argparse
import os
from pathlib import Path

import uvicorn

from simulators.claude.app import create_app
from simulators.claude.config import ClaudeSimulatorConfig


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="simulators.claude", description=__doc__)
    env = os.environ.get
    parser.add_argument("--host", default=env("SIM_CLAUDE_HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=int(env("SIM_CLAUDE_PORT", "8101")))
    parser.add_argument("--key", default=env("SIM_CLAUDE_KEY"), help="the only key accepted")
    parser.add_argument("--admin-secret", default=env("SIM_CLAUDE_ADMIN_SECRET"))
    parser.add_argument("--state", default=env("SIM_CLAUDE_STATE"), help="journal file")
    parser.add_argument(
        "--latency-seconds", type=float, default=float(env("SIM_CLAUDE_LATENCY_SECONDS", "0"))
    )
    parser.add_argument("--log-level", default=env("SIM_CLAUDE_LOG_LEVEL", "warning"))
    return parser


def main() -> None:
    """Read the options and serve until stopped."""
    options = _parser().parse_args()
    config = ClaudeSimulatorConfig(
        key=options.key or None,
        admin_secret=options.admin_secret or None,
        state=Path(options.state) if options.state else None,
        latency_seconds=options.latency_seconds,
    )
    uvicorn.run(
        create_app(config),
        host=options.host,
        port=options.port,
        log_level=options.log_level,
        # an admin client's idle connection must not die in the moment of its use
        timeout_keep_alive=120,
    )


if __name__ == "__main__":
    main()
