"""Where remote agents come in: their address, guarded as the pages are, and its start and stop."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.translation import gettext as _
from starlette.datastructures import Headers

from coordination.errors import DomainError, Forbidden
from handoff_site.origins import Receive, Send, is_own_origin
from mcp_bridge.http import RemoteAgents
from mcp_bridge.http.refusals import response

ADDRESSES = ("/mcp", "/mcp/")

agents = RemoteAgents()


class ForeignHost(DomainError):
    """A request for another site's name."""

    http_status = 400
    code = "foreign_host"


class WithAgents:
    """Send the agents' address to their door, and everything else to the pages."""

    def __init__(self, pages: Callable[..., Awaitable[None]]) -> None:
        self.pages = pages

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request on; refuse what other websites send."""
        if scope["path"] not in ADDRESSES:
            await self.pages(scope, receive, send)
            return
        refusal = refusal_of(Headers(scope=scope), scheme=scope["scheme"])
        door: Callable[..., Awaitable[None]] = response(refusal) if refusal else agents
        await door(scope, receive, send)


def refusal_of(headers: Headers, *, scheme: str) -> DomainError | None:
    """Return why a request comes from elsewhere, by the rules of Django's own requests here."""
    host, origin = headers.get("host", ""), headers.get("origin")
    domain, _port = split_domain_port(host)
    if not validate_host(domain, settings.ALLOWED_HOSTS):
        return ForeignHost(_("This name is not one of this site's: refused."))
    if origin is not None and not is_own_origin(origin, scheme=scheme, host=host):
        return Forbidden(
            _("This request comes from another website ({origin}): refused.").format(
                origin=origin[:100]
            )
        )
    return None


async def lifespan(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Serve agents from the server's start to its stop."""
    await receive()
    async with agents.serving():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})
