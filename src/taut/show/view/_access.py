"""Which HTTP requests are accepted, by their Host, Origin and token.

A page of another site can send requests to a server on this machine, and even read the answers if
it makes its own domain name point here (DNS rebinding). Therefore the Host header must name this
server, and an Origin header must be that of its own page; a web socket must have an Origin. A
server that other machines can reach also requires a token: in the address that is opened first,
then in a cookie.
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

_TOKEN_BYTES = 24
_MAX_PATH_LENGTH = 4096  # of a path in which a token is looked for


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`.

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
class AccessPolicy:
    """Decides which requests are accepted.

    host, port : on which the server listens
    token : secret that requests must present, or None if only this machine can reach the server

    >>> policy = AccessPolicy.for_server("127.0.0.1", 8080)
    >>> policy.check("/", {"Host": "127.0.0.1:8080"}, is_websocket=False)
    >>> policy.check("/", {"Host": "evil.example"}, is_websocket=False)
    'the Host header does not name this server'
    >>> foreign = {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"}
    >>> policy.check("/", foreign, is_websocket=True)
    'the Origin is not the page of this server'
    """

    host: str
    port: int
    token: str | None

    @staticmethod
    def for_server(host: str, port: int) -> AccessPolicy:
        """Make the policy of a server, with a new token if other machines can reach it."""
        token = None
        if not is_loopback(host):
            token = secrets.token_urlsafe(_TOKEN_BYTES)
        return AccessPolicy(host, port, token)

    @property
    def cookie(self) -> str:
        """Name of the cookie with the token; it includes the port, since ports share cookies."""
        return f"taut_{self.port}"

    @property
    def url(self) -> str:
        """The address to open."""
        name = self.host
        if name in ("0.0.0.0", "::", ""):  # all addresses: none of them can be opened
            name = socket.gethostname()
        if ":" in name:  # IPv6
            name = f"[{name}]"
        query = "" if self.token is None else f"?token={self.token}"
        return f"http://{name}:{self.port}/{query}"

    def check(self, path: str, headers: Mapping[str, str], *, is_websocket: bool) -> str | None:
        """Return the reason to reject a request, or None to accept it.

        path : with its query; headers : of the request
        """
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if not self.is_own_host(host):
            return "the Host header does not name this server"
        if origin is None and is_websocket:
            return "a web socket must have an Origin"
        if origin is not None and origin.lower() != f"http://{host}".lower():
            return "the Origin is not the page of this server"
        if self.token is not None and not self.has_token(path, headers):
            return "the token is missing or wrong"
        return None

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header names this server.

        Accepted are known names and loopback addresses; with a token, any numeric address: only
        names can be made to point here by others.
        """
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

    def has_token(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether the query of the path or the cookie has the token."""
        candidates: list[str] = []
        if len(path) < _MAX_PATH_LENGTH:
            query = parse_qs(urlsplit(path).query, max_num_fields=16)
            candidates += query.get("token", [])
        try:
            cookies = SimpleCookie(headers.get("Cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        if self.cookie in cookies:
            candidates.append(cookies[self.cookie].value)
        token = (self.token or "").encode()
        # compare_digest, and no early exit: the time must not tell how much of a guess is right.
        matches = [
            hmac.compare_digest(candidate.encode("utf-8", "replace"), token)
            for candidate in candidates
        ]
        return sum(matches) > 0
