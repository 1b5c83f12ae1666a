"""Start-up problems, each naming the setting and the cure; Django runs them before a command."""

import ipaddress
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as Caution
from django.utils.translation import gettext as _


def check_folders(**_kwargs: Any) -> list[CheckMessage]:
    """Tell which folders this process cannot write."""
    problems: list[CheckMessage] = []
    if reason := unwritable(settings.DATA_DIR):
        problems.append(
            Error(
                _("The data folder {folder} cannot be written: {reason}.").format(
                    folder=settings.DATA_DIR, reason=reason
                ),
                hint=_("Make it writable, or set HANDOFF_DATA_DIR to another folder."),
                id="handoff.E001",
            )
        )
    folder = settings.SQLITE_PATH.parent
    if not settings.DATABASE_URL and folder != settings.DATA_DIR and (reason := unwritable(folder)):
        problems.append(
            Error(
                _("The database's folder {folder} cannot be written: {reason}.").format(
                    folder=folder, reason=reason
                ),
                hint=_("Make it writable, or set MCP_HANDOFF_DB to a file in another folder."),
                id="handoff.E002",
            )
        )
    return problems


def check_addresses(**_kwargs: Any) -> list[CheckMessage]:
    """Tell which settings would open this site wider than it is guarded."""
    problems: list[CheckMessage] = []
    public = not is_loopback(settings.HOST) or not settings.ON_LOOPBACK
    if not is_loopback(settings.HOST) and settings.ON_LOOPBACK:
        problems.append(unnamed_host(settings.HOST))
    if "*" in settings.ALLOWED_HOSTS:
        problems.append(
            Error(
                _("HANDOFF_ALLOWED_HOSTS is *: any website could reach this one."),
                hint=_("Set HANDOFF_ALLOWED_HOSTS to the names that people type."),
                id="handoff.E004",
            )
        )
    if public and settings.DEBUG:
        problems.append(
            Error(
                _("HANDOFF_DEBUG shows settings and code to whoever meets an error."),
                hint=_("Unset HANDOFF_DEBUG on a site that serves other machines."),
                id="handoff.E005",
            )
        )
    if public and settings.SECURE_PROXY_SSL_HEADER is None:
        problems.append(
            Caution(
                _("This site serves other machines, so its cookies travel over HTTPS only."),
                hint=_("Put an HTTPS proxy in front of it and set HANDOFF_BEHIND_PROXY=1."),
                id="handoff.W001",
            )
        )
    return problems


def unnamed_host(host: str) -> Error:
    """Return the refusal of an address for which no host name is allowed."""
    return Error(
        _("HANDOFF_HOST is {host}, but HANDOFF_ALLOWED_HOSTS names this machine only.").format(
            host=host
        ),
        hint=_("Set HANDOFF_ALLOWED_HOSTS to the names that people type, or HANDOFF_HOST to "
               "127.0.0.1."),
        id="handoff.E003",
    )  # fmt: skip


def unwritable(folder: Path) -> str:
    """Return why nothing can be written in `folder`, made if absent; empty when it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def is_loopback(host: str) -> bool:
    """Tell whether an address reaches this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
