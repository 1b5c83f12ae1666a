"""One ASGI application: pages and REST (Django), the board's socket (Channels), agents (MCP)."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "handoff_site.settings")
pages = get_asgi_application()

# The registry is ready only now: what follows imports models.
from handoff_site.board.consumers import BoardConsumer  # noqa: E402
from handoff_site.origins import OwnOriginOnly  # noqa: E402
from handoff_site.remote_agents import WithAgents, lifespan  # noqa: E402

sockets = URLRouter([path("ws/board", BoardConsumer.as_asgi())])
application = ProtocolTypeRouter(
    {
        "http": WithAgents(pages),
        "websocket": OwnOriginOnly(CookieMiddleware(sockets)),
        "lifespan": lifespan,
    }
)
