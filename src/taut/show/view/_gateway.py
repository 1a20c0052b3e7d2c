"""The gateway in front of viser's server: checks every request, connection and message.

Requests pass the `AccessPolicy`, messages the `Protocol`. A client may send `MESSAGE_BURST`
messages at once and `MESSAGES_PER_SECOND` in the long run; one that sends more, or anything that
the page of the viewer does not send, is disconnected (code 1008). At most `MAX_CLIENTS` may be
connected.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from taut.extras import import_extra
from taut.show.view._access import AccessPolicy
from taut.show.view._protocol import MAX_MESSAGE_BYTES, Protocol

MESSAGES_PER_SECOND, MESSAGE_BURST = 200.0, 400.0
MAX_CLIENTS = 64
_POLICY_VIOLATION = 1008  # close code of RFC 6455
# Headers on which decisions depend. None of them may come twice: a second value could be the one
# that another layer reads.
_CHECKED_HEADERS = ("Host", "Origin", "Cookie", "Upgrade", "Sec-WebSocket-Protocol")
_SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class TokenBucket:
    """A rate limit.

    rate : events per second in the long run; burst : events at once; now : time [s]

    >>> bucket = TokenBucket(rate=1.0, burst=2.0, now=0.0)
    >>> [bucket.take(t) for t in (0.0, 0.0, 0.0, 1.5)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate, self.burst = rate, burst
        self._tokens, self._updated = burst, now

    def take(self, now: float) -> bool:
        """Count one event at a time [s]; return whether it is within the limit."""
        self._tokens = min(self.burst, self._tokens + (now - self._updated) * self.rate)
        self._updated = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


class Gateway:
    """Checks what reaches a viser server.

    access : which requests are accepted; protocol : which messages are accepted
    subprotocol : of the web socket, as the page of the viewer requests it
    counts : how often a client was "accepted", and how often rejected for which reason
    clients : how many are connected
    """

    def __init__(self, access: AccessPolicy, protocol: Protocol, subprotocol: str) -> None:
        self.access, self.protocol, self.subprotocol = access, protocol, subprotocol
        self.counts: Counter[str] = Counter()
        self.clients = 0
        self._msgspec = import_extra("view", "msgspec", "viewers")
        self._http11 = import_extra("view", "websockets.http11", "viewers")
        self._headers = import_extra("view", "websockets.datastructures", "viewers").Headers

    def handle_request(self, request: Any, answer: Callable[[], Any]) -> Any:
        """Return the response to a request: a rejection, or what `answer` returns.

        None opens a web socket.
        """
        reason = self._check_request(request)
        if reason is not None:
            self.counts[reason] += 1
            return self._make_response(HTTPStatus.FORBIDDEN, reason)
        response = answer()
        if response is not None:
            for name, value in _SECURITY_HEADERS.items():
                response.headers[name] = value
            if self.access.token is not None:
                cookie = f"{self.access.cookie}={self.access.token}"
                response.headers["Set-Cookie"] = f"{cookie}; Path=/; HttpOnly; SameSite=Strict"
        return response

    def _check_request(self, request: Any) -> str | None:
        """Return the reason to reject a request, or None."""
        values = request.headers
        headers = {}
        # With a repeated header nothing is passed on: without a Host the request is rejected.
        if all(len(values.get_all(name)) <= 1 for name in _CHECKED_HEADERS):
            headers = {name: values[name] for name in _CHECKED_HEADERS if name in values}
        is_websocket = "Upgrade" in values
        reason = self.access.check(request.path, headers, is_websocket=is_websocket)
        if reason is not None or not is_websocket:
            return reason
        if headers.get("Sec-WebSocket-Protocol") != self.subprotocol:
            return f"the subprotocol must be {self.subprotocol}"
        if self.clients >= MAX_CLIENTS:
            return f"at most {MAX_CLIENTS} viewers may be connected"
        return None

    def _make_response(self, status: HTTPStatus, text: str) -> Any:
        body = f"{text}\n".encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
        headers |= _SECURITY_HEADERS
        return self._http11.Response(status.value, status.phrase, self._headers(headers), body)

    async def serve_client(
        self, handler: Callable[[Any], Awaitable[None]], connection: Any
    ) -> None:
        """Count a client for as long as its connection is handled."""
        self.counts["accepted"] += 1
        self.clients += 1
        try:
            await handler(connection)
        finally:
            self.clients -= 1

    def make_connection_class(self) -> type:
        """Make the class of connections whose messages are checked."""
        gateway = self
        base = import_extra("view", "websockets.asyncio.server", "viewers").ServerConnection

        class CheckedConnection(base):  # type: ignore[misc, valid-type]
            """A web socket that passes on only messages which pass the check."""

            async def recv(self, *arguments: Any, **options: Any) -> Any:
                raw = await super().recv(*arguments, **options)
                reason = gateway.check_message(self, raw)
                if reason is not None:
                    gateway.counts[reason] += 1
                    await self.close(_POLICY_VIOLATION, reason)
                    # Drop what the client has sent in the meantime, until recv raises
                    # ConnectionClosed.
                    while True:
                        await super().recv(*arguments, **options)
                return raw

        return CheckedConnection

    def check_message(self, connection: Any, raw: Any) -> str | None:
        """Return the reason to reject a message of a connection, or None."""
        now = time.monotonic()
        bucket = connection.__dict__.setdefault(
            "_taut_bucket", TokenBucket(MESSAGES_PER_SECOND, MESSAGE_BURST, now)
        )
        if not bucket.take(now):
            return "too many messages"
        if not isinstance(raw, bytes):
            return "a message must be binary"
        if len(raw) > MAX_MESSAGE_BYTES:
            return f"a message must have at most {MAX_MESSAGE_BYTES} bytes"
        try:
            message = self._msgspec.msgpack.decode(raw)
        except (self._msgspec.DecodeError, RecursionError, ValueError):
            return "a message must be msgpack"
        return self.protocol.check(message)
