"""What must hold before the site serves: an address, a database, somebody who may sign in."""

import contextlib
import errno
import fcntl
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.utils.translation import gettext as _

from handoff_site.checks import is_loopback
from handoff_site.ways_in import link_for

FIRST_NAME = "admin"


@dataclass(frozen=True, slots=True)
class Welcome:
    """Whom to welcome, and the password when it was made just now."""

    name: str
    password: str
    link: str

    def lines(self) -> list[str]:
        """Return what a person reads who may come in."""
        link = _("Sign in as {name} (once, within ten minutes): {link}").format(
            name=self.name, link=self.link
        )
        if not self.password:
            return [link]
        account = _("Administrator: {name}   Password: {password}   (shown this once)")
        return [account.format(name=self.name, password=self.password), link]


def stop_on_signals() -> None:
    """Have SIGTERM stop this process as Ctrl-C does, even where a shell had SIGINT ignored.

    Shells start background jobs with SIGINT ignored; until uvicorn takes both over, that would
    lose the signal of a stop that comes early.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def claim(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address, so that nothing starts on a taken one."""
    try:
        family, kind, proto, _name, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        raise CommandError(_claim_refusal(host, port, error)) from error
    return listener


def _claim_refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return _(
            "Port {port} on {host} is taken: stop what uses it (another Handoff?), "
            "or choose another with HANDOFF_PORT."
        ).format(port=port, host=host)
    return _(
        "Cannot listen on {host}, port {port}: {reason}. See HANDOFF_HOST, HANDOFF_PORT."
    ).format(host=host, port=port, reason=error.strerror or error)


def prepare_database() -> None:
    """Bring the database up to this code's migrations, or say in one line why not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        with _alone():
            call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        raise CommandError(_database_refusal(error)) from error


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock under which `runmcp` makes an absent SQLite database too."""
    if settings.DATABASE_URL:
        yield
        return
    with Path(f"{settings.SQLITE_PATH}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _database_refusal(error: DatabaseError) -> str:
    reason = " ".join(str(error).split())
    if settings.DATABASE_URL:
        return _("The database of DATABASE_URL does not answer: {reason}").format(reason=reason)
    if "locked" in reason:
        return _("The database {path} is busy: another process holds it. Try again.").format(
            path=settings.SQLITE_PATH
        )
    return _(
        "The database {path} cannot be used ({reason}). Move it away, or set MCP_HANDOFF_DB "
        "to another file."
    ).format(path=settings.SQLITE_PATH, reason=reason)


def a_person_reads(host: str) -> bool:
    """Tell whether what this process prints stays between this machine and its only user.

    A site that others reach has its output kept, in a journal or by a container's log, and a link
    there would let in whoever reads that.
    """
    proxied = bool(settings.PUBLIC_URL or settings.CSRF_TRUSTED_ORIGINS)
    return is_loopback(host) and settings.ON_LOOPBACK and not proxied and not _to_journal()


def _to_journal() -> bool:
    """Tell whether systemd keeps what is printed: it names its stream, which children inherit."""
    try:
        stream = os.fstat(sys.stdout.fileno())
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{stream.st_dev}:{stream.st_ino}"


def welcome(*, site: str) -> Welcome:
    """Return a fresh link for the first administrator, who is made if there is none."""
    password = ""
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is None:
        password = secrets.token_urlsafe(12)
        user = User.objects.create_superuser(_free_name(), password=password)
    return Welcome(user.get_username(), password, site + link_for(user))


def _free_name() -> str:
    """Return `admin`, or the first of admin2, admin3… that nobody has."""
    taken = set(
        User.objects.filter(username__startswith=FIRST_NAME).values_list("username", flat=True)
    )
    names = [FIRST_NAME, *(f"{FIRST_NAME}{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def site_address(host: str, port: int) -> str:
    """Return the address that a person types: the proxy's where there is one."""
    if settings.PUBLIC_URL:
        return str(settings.PUBLIC_URL)
    if settings.CSRF_TRUSTED_ORIGINS:
        return settings.CSRF_TRUSTED_ORIGINS[0]
    if host in {"0.0.0.0", "::", "[::]"}:  # noqa: S104 - compared, not bound
        names = [name for name in settings.ALLOWED_HOSTS if not is_loopback(name)]
        host = names[0] if names else "127.0.0.1"
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{port}"
