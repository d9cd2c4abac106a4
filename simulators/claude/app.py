"""The simulator as an ASGI application."""

import time
from collections.abc import Callable

from fastapi import FastAPI

from simulators.claude.admin import admin_router
from simulators.claude.config import ClaudeSimulatorConfig
from simulators.claude.connection import DroppableApp
from simulators.claude.service import Service


def create_app(
    config: ClaudeSimulatorConfig | None = None, *, clock: Callable[[], float] = time.time
) -> FastAPI:
    """Return the application; `clock` (seconds) drives the life of cached prompts only."""
    service = Service(config or ClaudeSimulatorConfig(), clock=clock)
    app = DroppableApp(title="Claude simulator", openapi_url=None)
    app.add_api_route("/v1/messages", service.create, methods=["POST"])
    app.add_api_route("/v1/messages/count_tokens", service.count, methods=["POST"])
    app.add_api_route("/health", lambda: {"ok": True}, methods=["GET"])
    app.include_router(admin_router(service))
    return app
