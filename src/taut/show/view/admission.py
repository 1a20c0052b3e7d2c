"""Who is let in: Host, Origin and token of a request, before anything else looks at it.

A page of another site may send requests to a server on this machine (and, by letting its own name point here, even read the
answers): so the Host must be one of ours, and the Origin, where there is one, that of our own page. A web socket always has one.
Beyond this machine a token is needed as well: in the address that is opened, then in a cookie.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

TOKEN_BYTES = 24


def is_loopback(host: str) -> bool:
    """Whether a host to listen on is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Admission:
    """What a request must show.

    host : that is listened on; port : its number; token : or None where only this machine can ask

    >>> door = Admission.on("127.0.0.1", 8080)
    >>> door.refusal("/", {"Host": "127.0.0.1:8080"}, socket=False)
    >>> door.refusal("/", {"Host": "evil.example"}, socket=False)
    'the host is not ours'
    >>> door.refusal("/", {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"}, socket=True)
    'the origin is not ours'
    """

    host: str
    port: int
    token: str | None

    @staticmethod
    def on(host: str, port: int) -> Admission:
        """For a server that listens there; with a new token if others than this machine can reach it."""
        return Admission(host, port, None if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES))

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds the token; cookies do not tell ports apart."""
        return f"taut_{self.port}"

    @property
    def url(self) -> str:
        """The address to open."""
        name = self.host
        if name in ("0.0.0.0", "::", ""):
            name = socket.gethostname()
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/" + ("" if self.token is None else f"?token={self.token}")

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server: by a name that we know, or, beyond this machine, by any address in numbers
        (only names can be made to point here by others)."""
        if not host.isascii() or any(letter in host for letter in "@/\\?# "):
            return False
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname, parts.port
        except ValueError:
            return False
        if name is None or (port or 80) != self.port:
            return False
        if name == "localhost" or name == self.host.lower():
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return self.token is not None and name == socket.gethostname().lower()
        return address.is_loopback or self.token is not None

    def refusal(self, path: str, headers: Mapping[str, str], *, socket: bool) -> str | None:
        """Why a request is refused, or None if it is let in; `socket` says whether it asks for a web socket.

        path : with its query; headers : those of the request
        """
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if not self.is_ours(host):
            return "the host is not ours"
        if (origin is None and socket) or (origin is not None and origin.lower() != f"http://{host}".lower()):
            return "the origin is not ours"
        if self.token is not None and not self.shows_token(path, headers):
            return "the token is missing or wrong"
        return None

    def shows_token(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether the token is in the query of the path, or in our cookie; compared in a time that does not tell how far."""
        given = parse_qs(urlsplit(path).query, max_num_fields=16).get("token", []) if len(path) < 4096 else []
        try:
            cookies = SimpleCookie(headers.get("Cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        if self.cookie in cookies:
            given.append(cookies[self.cookie].value)
        wanted = (self.token or "").encode()
        return sum(hmac.compare_digest(value.encode("utf-8", "replace"), wanted) for value in given) > 0
