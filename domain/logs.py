"""Logs as JSON lines on stderr: one event a line, ids as fields, no personal data.

Libraries that log requests or payloads are kept at WARNING. A record's `extra` fields are written
as they are; callers put ids and counts there, never a name, phone, amount or text.
"""

import json
import logging
import sys
from datetime import UTC, datetime

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_QUIET = ("httpx", "httpcore", "httpx2", "httpcore2", "anthropic", "uvicorn.access", "asyncio")


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object. Of an exception only its type and places are written:
    its words may quote a person."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        fields |= {k: v for k, v in record.__dict__.items() if k not in _STANDARD}
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["stack"] = _places(record)
        return json.dumps(fields, ensure_ascii=False, default=str)


def _places(record: logging.LogRecord) -> list[str]:
    places = []
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places[-8:]


def configure_logging(level: str) -> None:
    """Write JSON lines to stderr at this level (DEBUG, INFO, WARNING, ERROR)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
