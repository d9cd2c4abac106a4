"""Who may use the admin API and the page: only who holds the run's secret.

A page of another site in the same browser must not press a button here. So the cookie is
strict, and whatever changes something needs our own header (which another origin cannot
send without asking first) and, if the browser names an origin, our own.
"""

import hmac
import ipaddress

from fastapi import HTTPException, Request

from simulators.whatsapp.config import SimulatorConfig

SECRET_HEADER = "x-sim-secret"  # noqa: S105 - the name of a header
PAGE_HEADER = "x-sim-page"


def same(given: str | None, secret: str) -> bool:
    """Compare in constant time; nothing given is never equal."""
    return given is not None and hmac.compare_digest(given.encode(), secret.encode())


def cookie_name(request: Request) -> str:
    """Return the cookie's name; with the port, since cookies are shared between ports."""
    return f"sim_whatsapp_{request.url.port or 80}"


def check_admin(request: Request, config: SimulatorConfig) -> None:
    """Let the holder of the secret pass, from this machine unless configured otherwise."""
    if not config.admin_from_anywhere and not _is_loopback(request):
        raise HTTPException(403, "the admin API answers this machine only")
    if not same(request.headers.get(SECRET_HEADER), config.page_secret):
        raise HTTPException(401, "missing or wrong X-Sim-Secret")


def check_page(request: Request, config: SimulatorConfig) -> None:
    """Let the page's own calls pass: secret by cookie or header, and no foreign origin."""
    by_header = same(request.headers.get(SECRET_HEADER), config.page_secret)
    by_cookie = same(request.cookies.get(cookie_name(request)), config.page_secret)
    if not (by_header or by_cookie):
        raise HTTPException(401, "missing or wrong page secret")
    if request.method in ("GET", "HEAD"):
        return
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        raise HTTPException(403, f"foreign origin {origin!r}")
    if not by_header and request.headers.get(PAGE_HEADER) != "1":
        raise HTTPException(403, "missing X-Sim-Page")


def _is_loopback(request: Request) -> bool:
    if request.client is None:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
