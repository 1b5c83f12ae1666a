"""What a command prints: only its end is kept, whatever it prints."""

import asyncio
import re

from django.utils.translation import gettext as _

KEPT_BYTES = 8192
_SLACK = 16 * KEPT_BYTES
"""How much more is held before it is cut off: cutting at each small write would cost too much."""
_TERMINAL_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))")
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
"""Control characters as their pictures (NUL as ␀): some databases could not keep them."""


class Output(asyncio.Protocol):
    """The end of what comes through a pipe, and when the pipe was closed."""

    def __init__(self) -> None:
        self.closed = asyncio.get_running_loop().create_future()
        self.total = 0
        self._tail = bytearray()

    def data_received(self, data: bytes) -> None:
        """Keep the end of `data`."""
        self.total += len(data)
        self._tail += data[-KEPT_BYTES:]
        if len(self._tail) > KEPT_BYTES + _SLACK:
            del self._tail[:-KEPT_BYTES]

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that nothing more will come."""
        if not self.closed.done():
            self.closed.set_result(None)

    def text(self) -> str:
        """Return what was kept as text that any reader and database can take, marked when cut."""
        text = self._tail[-KEPT_BYTES:].decode(errors="replace")
        text = _TERMINAL_SEQUENCE.sub("", text).replace("\r\n", "\n").translate(_CONTROL_PICTURES)
        kept = text.encode()[-KEPT_BYTES:].decode(errors="ignore").rstrip()
        if self.total <= KEPT_BYTES and len(kept) >= len(text.rstrip()):
            return kept
        return (
            _("… (only the end; {total} bytes in all)").format(total=f"{self.total:,}")
            + f"\n{kept}"
        )

    def last_line(self, maximum: int) -> str:
        """Return the last line that is not blank, cut to `maximum` characters."""
        lines = self.text().splitlines()
        return lines[-1].strip()[:maximum] if lines else ""
