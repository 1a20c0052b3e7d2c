"""The door of the server: every connection passes the admission, every message the check of the wire, at a bounded rate.

A client may send RATE messages a second in the long run, and BURST at once; who sends more, or something that no page of ours
sends, is disconnected (code 1008). At most MOST_CLIENTS are let in.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from taut.extras import extra
from taut.show.view.admission import Admission
from taut.show.view.wire import MOST_BYTES, Wire

RATE, BURST = 200.0, 400.0
MOST_CLIENTS = 64
POLICY = 1008
READ = ("Host", "Origin", "Cookie", "Upgrade", "Sec-WebSocket-Protocol")  # headers that decide; none of them may come twice
HEADERS = {
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
}  # fmt: skip


class Bucket:
    """A bounded rate: so many at once, so many a second in the long run.

    >>> bucket = Bucket(rate=1.0, burst=2.0, now=0.0)
    >>> [bucket.take(t) for t in (0.0, 0.0, 0.0, 1.5)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate, self.burst, self._left, self._then = rate, burst, burst, now

    def take(self, now: float) -> bool:
        """Whether one more is within the rate."""
        self._left = min(self.burst, self._left + (now - self._then) * self.rate)
        self._then = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Door:
    """What stands before a viser server.

    admission : who is let in; wire : what may be said; protocol : the web socket's subprotocol that our page speaks
    counts : "let in", and each reason for a refusal, with how often
    """

    def __init__(self, admission: Admission, wire: Wire, protocol: str) -> None:
        self.admission, self.wire, self.protocol = admission, wire, protocol
        self.counts: Counter[str] = Counter()
        self.clients = 0
        self._msgspec = extra("view", "msgspec", "viewers")
        self._http11 = extra("view", "websockets.http11", "viewers")
        self._headers = extra("view", "websockets.datastructures", "viewers").Headers

    def request(self, request: Any, answer: Callable[[], Any]) -> Any:
        """The response to a request: a refusal, or what `answer` gives (None: a web socket is opened)."""
        values = request.headers
        twice = any(len(values.get_all(name)) > 1 for name in READ)
        headers = {} if twice else {name: values[name] for name in READ if name in values}
        socket = "Upgrade" in values
        why = self.admission.refusal(request.path, headers, socket=socket)
        if why is None and socket and headers.get("Sec-WebSocket-Protocol") != self.protocol:
            why = "another protocol is spoken"
        if why is None and socket and self.clients >= MOST_CLIENTS:
            why = "there are too many viewers"
        if why is not None:
            self.counts[why] += 1
            return self._response(HTTPStatus.FORBIDDEN, why)
        response = answer()
        if response is not None:
            for name, value in HEADERS.items():
                response.headers[name] = value
            if self.admission.token is not None:
                response.headers["Set-Cookie"] = (
                    f"{self.admission.cookie}={self.admission.token}; Path=/; HttpOnly; SameSite=Strict"
                )
        return response

    def _response(self, status: HTTPStatus, text: str) -> Any:
        body = f"{text}\n".encode()
        headers = self._headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **HEADERS})
        return self._http11.Response(status.value, status.phrase, headers, body)

    async def serve(self, handler: Callable[[Any], Awaitable[None]], connection: Any) -> None:
        """Let a client in for as long as it stays."""
        self.counts["let in"] += 1
        self.clients += 1
        try:
            await handler(connection)
        finally:
            self.clients -= 1

    def connection(self) -> type:
        """The class of connections whose messages are checked."""
        door, base = self, extra("view", "websockets.asyncio.server", "viewers").ServerConnection

        class Checked(base):  # type: ignore[misc, valid-type]
            """A web socket that gives on only what passes the check."""

            async def recv(self, *arguments: Any, **options: Any) -> Any:
                raw = await super().recv(*arguments, **options)
                why = door.fault(self, raw)
                if why is not None:
                    door.counts[why] += 1
                    await self.close(POLICY, why)
                    while True:  # what was sent before is not looked at; then it says that the connection is closed
                        await super().recv(*arguments, **options)
                return raw

        return Checked

    def fault(self, connection: Any, raw: Any) -> str | None:
        """What is wrong with a message of a connection, or None."""
        now = time.monotonic()
        bucket = connection.__dict__.setdefault("_taut_bucket", Bucket(RATE, BURST, now))
        if not bucket.take(now):
            return "too many messages"
        if not isinstance(raw, bytes) or len(raw) > MOST_BYTES:
            return "a message that no page of ours sends"
        try:
            message = self._msgspec.msgpack.decode(raw)
        except (self._msgspec.DecodeError, RecursionError, ValueError):
            return "a message that cannot be read"
        return self.wire.fault(message)
