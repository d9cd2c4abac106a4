"""The phone page and its own endpoints under /phone."""

from fastapi import APIRouter

from simulators.whatsapp.engine import Simulator


def phone_router(simulator: Simulator) -> APIRouter:
    """Return the routes of the page."""
    return APIRouter(prefix="/phone")
