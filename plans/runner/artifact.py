"""Check what must exist: files inside the project's folder, and addresses that answer."""

import asyncio
import os
import ssl
import stat
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import httpx2
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from plans.rules import FileContains, FileExists, HttpGetStatus
from plans.runner.outcome import Outcome

Check = FileExists | FileContains | HttpGetStatus

HTTP_SECONDS = 10.0
"""From looking the name up to the status line, whatever the server does meanwhile."""
FILE_SECONDS = 60.0
CHUNK_BYTES = 1 << 20
SUBJECT_MAX = 300
"""Characters of a path or an address in its line of evidence."""
REASON_MAX = 200
QUOTED_MAX = 5
"""Failures that the error names; the evidence has them all."""


class Unmet(Exception):
    """Why a check does not hold, in words that quote nothing of what a file holds."""


async def run_artifact(checks: Sequence[Check], cwd: Path) -> Outcome:
    """Run all the checks at once; every one of them must hold. The evidence has a line for each."""
    results = await asyncio.gather(*(_result(check, cwd) for check in checks))
    evidence = "\n".join(line for _holds, line in results)
    errors = [line for holds, line in results if not holds]
    quoted = errors[:QUOTED_MAX] + ["…"] * (len(errors) > QUOTED_MAX)
    return Outcome(not errors, evidence, "; ".join(quoted))


async def _result(check: Check, cwd: Path) -> tuple[bool, str]:
    """Return whether a check holds, and its line of evidence."""
    subject = check.url if isinstance(check, HttpGetStatus) else check.path
    if len(subject) > SUBJECT_MAX:
        subject = f"{subject[: SUBJECT_MAX - 1]}…"
    try:
        if isinstance(check, HttpGetStatus):
            seen = await _http_get_status(check)
        else:
            seen = await _in_thread(check, cwd)
    except Unmet as reason:
        return False, f"{check.rule} {subject}: {reason}"
    return True, f"{check.rule} {subject}: {seen}"


async def _in_thread(check: FileExists | FileContains, cwd: Path) -> str:
    """Look at a file without holding up the event loop; give up when cancelled or too slow."""
    stop = threading.Event()
    try:
        async with asyncio.timeout(FILE_SECONDS):
            # The active language is the event loop's thread's only.
            look_in_language = override(get_language())(look)
            return await asyncio.to_thread(look_in_language, check, cwd, stop)
    except TimeoutError:
        raise Unmet(_("not read within {seconds:g} s").format(seconds=FILE_SECONDS)) from None
    finally:
        stop.set()


def look(check: FileExists | FileContains, cwd: Path, stop: threading.Event) -> str:
    """Return what was seen of a file, or raise Unmet."""
    try:
        path = inside(cwd, check.path)
        mode = path.stat().st_mode
        if isinstance(check, FileContains):
            if not stat.S_ISREG(mode):
                raise Unmet(_("is not an ordinary file"))
            if not contains(path, check.text.encode(), stop):
                raise Unmet(_("the text is not in it"))
            return _("holds the text")
    except FileNotFoundError:
        raise Unmet(_("does not exist")) from None
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Unmet(_("cannot be read: {why}").format(why=why)) from None
    return _("exists (folder)") if stat.S_ISDIR(mode) else _("exists")


def inside(cwd: Path, path: str) -> Path:
    """Return where `path` really leads; refuse what is not inside the folder."""
    root = cwd.resolve(strict=True)
    real = (root / path).resolve()
    # Compared part by part: /srv/proj-evil is not in /srv/proj.
    if Path(path).is_absolute() or not real.is_relative_to(root):
        raise Unmet(_("leads out of the project's folder"))
    if real == root:
        raise Unmet(_("is the project's folder itself: it would check nothing"))
    return real


def contains(path: Path, text: bytes, stop: threading.Event) -> bool:
    """Search an ordinary file for `text`, a piece at a time."""
    # A pipe would wait for a writer, a device may never end; the last part was resolved already,
    # so it is no link unless somebody swapped it since.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unmet(_("is not an ordinary file"))
        rest = b""
        while not stop.is_set() and (chunk := file.read(CHUNK_BYTES)):
            piece = rest + chunk
            if text in piece:
                return True
            rest = piece[-len(text) + 1 :] if len(text) > 1 else b""
    return False


async def _http_get_status(check: HttpGetStatus) -> str:
    started = time.monotonic()
    try:
        async with asyncio.timeout(HTTP_SECONDS):
            status = await _status_of(check.url)
    except TimeoutError:
        raise Unmet(_("no answer within {seconds:g} s").format(seconds=HTTP_SECONDS)) from None
    except Exception as error:  # the client's, a socket's, a group of them: there is no answer
        why = " ".join(str(error).split())[:REASON_MAX] or type(error).__name__
        raise Unmet(_("no answer: {why}").format(why=why)) from None
    if status != check.status:
        raise Unmet(
            _("status {status}, expected {expected}").format(status=status, expected=check.status)
        )
    milliseconds = round(1000 * (time.monotonic() - started))
    return _("status {status} in {milliseconds} ms").format(
        status=status, milliseconds=milliseconds
    )


async def _status_of(url: str) -> int:
    """Return the first status the server answers with; its body is left unread."""
    # The environment's proxies are the agent's business: one that is gone must not fail a check.
    async with (
        httpx2.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=None, verify=trusted()
        ) as client,
        client.stream("GET", url, headers={"User-Agent": "handoff"}) as response,
    ):
        return response.status_code


@cache
def trusted() -> ssl.SSLContext:
    """Return whom TLS trusts. A client makes its own otherwise, which takes 50 ms each time."""
    return httpx2.create_ssl_context(trust_env=False)
