"""Prometheus metrics of this web process, and of the database that all processes share.

Agents have processes of their own, which nobody scrapes: what they do shows as events, and those
are counted in the database. No label has more than a handful of values.
"""

import ipaddress
import secrets
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import Error
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from coordination.models import Message, MessageStatus
from coordination.selectors.events import last_event_id
from coordination.selectors.sessions import health as presence
from handoff_site.board.hub import hub
from handoff_site.health import health
from handoff_site.origins import ASGIApplication, Receive, Send
from plans.models import Task
from plans.states import ACTIVE, WAITING

AREAS = ("admin", "api", "board", "mcp", "static", "healthz", "metrics")
"""First parts of an address that are told apart; the rest is "other", the board's page "board"."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FORWARDED = ("X-Forwarded-For", "X-Real-Ip", "Forwarded", "Via")
"""Headers of a proxy: with one, the address that we see is not the asker's."""

registry = CollectorRegistry()
ProcessCollector(registry=registry)
PlatformCollector(registry=registry)
GCCollector(registry=registry)

requests = Counter(
    "handoff_http_requests",
    "HTTP requests answered by this process",
    ("area", "method", "status"),
    registry=registry,
)
durations = Histogram(
    "handoff_http_response_start_seconds",
    "From a request to the first byte of its answer, in this process",
    ("area",),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=registry,
)


class Measured:
    """Count what an ASGI application answers over HTTP."""

    def __init__(self, application: ASGIApplication) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve; note the first byte's moment, so that a stream counts once and not for long."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        begun, area = time.perf_counter(), area_of(scope["path"])
        method = scope["method"] if scope["method"] in METHODS else "other"

        async def noting(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                requests.labels(area, method, f"{message['status'] // 100}xx").inc()
                durations.labels(area).observe(time.perf_counter() - begun)
            await send(message)

        await self.application(scope, receive, noting)


def area_of(path: str) -> str:
    """Return the part of the site that an address belongs to."""
    first = path.strip("/").partition("/")[0] or "board"
    return first if first in AREAS else "other"


class Desk:
    """What is true of this process's feed and of the shared database, read at each scrape."""

    def describe(self) -> list[Metric]:
        """Name nothing in advance: registering would read the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield this process's figures, then the database's if it answers."""
        found = health()
        yield _gauge("up", "1 when /healthz answers 200", int(found.ok))
        yield _gauge("database_up", "1 when the database answers", int(found.database))
        yield _gauge("feed_lag_seconds", "Age of the oldest event not told yet",
                     found.feed_lag_seconds)  # fmt: skip
        yield _gauge("board_sockets", "Boards open on this process", len(hub().channels))
        yield _counter("events_told", "Events this process told its boards", hub().sequence)
        if found.database and found.migrations:
            try:
                yield from list(_from_database())
            except Error:
                return  # it went away meanwhile: the next scrape says so


def _from_database() -> Iterator[Metric]:
    yield _counter("events", "Changes written by every process: the newest one's number",
                   last_event_id())  # fmt: skip
    sessions = GaugeMetricFamily(
        "handoff_sessions", "Agents' sessions by presence", labels=["presence"]
    )
    for bucket, count in presence().summary.items():
        sessions.add_metric([bucket], count)
    yield sessions
    asked = Message.objects.filter(parent__isnull=True, status=MessageStatus.OPEN).count()
    yield _gauge("questions_open", "Questions that nobody has answered", asked)
    live = (*ACTIVE, *WAITING)
    steps = GaugeMetricFamily(
        "handoff_steps", "Steps at work or waiting for a person", labels=["status"]
    )
    rows = Task.objects.filter(status__in=live).order_by().values_list("status")
    counts = dict(rows.annotate(number=Count("pk")))
    for status in dict.fromkeys(live):
        steps.add_metric([status.value], counts.get(status.value, 0))
    yield steps


def _gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(f"handoff_{name}", documentation, value=value)


def _counter(name: str, documentation: str, value: float) -> Metric:
    return CounterMetricFamily(f"handoff_{name}", documentation, value=value)


registry.register(Desk())


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape by whoever may: see `may_scrape`."""
    if not may_scrape(request):
        return HttpResponseForbidden(
            _("Metrics are for this machine, or for whoever sends HANDOFF_METRICS_TOKEN as a "
              "bearer token."),
            content_type="text/plain; charset=utf-8",
        )  # fmt: skip
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type)


def may_scrape(request: HttpRequest) -> bool:
    """Tell whether the asker has the token or, where none is set, sits on this machine.

    What a proxy sends on comes from elsewhere, even if the proxy is on this machine.
    """
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return secrets.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    if any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
