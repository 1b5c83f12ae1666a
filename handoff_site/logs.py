"""Logs for people: one line each, an exception included."""

import logging
import traceback
from types import TracebackType


class OneLineFormatter(logging.Formatter):
    """Name an exception and where it was raised, instead of printing its whole stack."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record on one line, whatever its message holds."""
        return super().format(record).replace("\r", " ").replace("\n", " ")

    def formatException(  # noqa: N802 - logging's own name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the exception's kind, words and place."""
        if ei[1] is None:
            return ""
        frames = traceback.extract_tb(ei[2])
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        return f"{type(ei[1]).__name__}: {ei[1]}{place}"

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's own name
        """Leave the stack out."""
        return ""
