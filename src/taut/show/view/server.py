"""A viser server behind our door.

viser by itself listens on all interfaces, asks nobody who they are, and offers a public tunnel. Here it gets a socket that we have
bound, a door before its web server (see `taut.show.view.door`), and no tunnel. If the door cannot be put there, nothing is served.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from taut.errors import TautError
from taut.extras import extra
from taut.show.view.admission import Admission
from taut.show.view.door import MOST_CLIENTS, Door
from taut.show.view.wire import MOST_BYTES, Wire

PORT, TRIES = 8080, 20  # where we begin to look for a free port, and how many we try
OPENING, CLOSING, ALIVE = 10.0, 2.0, 20.0  # seconds: for a handshake, for a goodbye, between signs of life
_making = threading.Lock()  # one server at a time gets its door


class Server:
    """A server that browsers can be pointed at, with nothing on it yet.

    host : to listen on; port : its number, 0 for any, None for the first free one from 8080 on
    address : what it listens on; viser : the ViserServer; url : the address to open; door : who was let in and who was not

    >>> server = Server(port=0)
    >>> server.url.startswith("http://127.0.0.1:")
    True
    >>> server.close()
    """

    def __init__(self, host: str = "127.0.0.1", port: int | None = None) -> None:
        viser = extra("view", "viser", "viewers")
        bound = _bound(host, port)
        self.address: tuple[str, int] = bound.getsockname()[:2]
        self.wire = Wire()
        self.door = Door(Admission.on(host, self.address[1]), self.wire, f"viser-v{viser.__version__}")
        try:
            with _making, _quiet(), _behind(self.door, bound) as served:
                _share_compressors()
                self.viser = viser.ViserServer(host=host, port=self.address[1], label="taut", verbose=False)
        except BaseException:
            bound.close()
            raise
        if not served:
            bound.close()
            self.close()
            raise TautError("this version of viser does not serve in the way that we know: it is not started unguarded")
        messages = extra("view", "viser._messages", "viewers")
        for kind in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
            self.viser._websock_server.unregister_handler(kind)
        self.viser.request_share_url = _no_tunnel

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return self.door.admission.url

    def close(self) -> None:
        """Let all clients go and free the port."""
        with _quiet():
            self.viser.stop()


def _no_tunnel(*arguments: Any, **options: Any) -> None:
    raise TautError("there is no public tunnel")


def _bound(host: str, port: int | None) -> socket.socket:
    """A socket that listens there."""
    first = PORT if port is None else port
    for number in range(first, first + (TRIES if port is None else 1)):
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, number), family=family, backlog=MOST_CLIENTS)
        except (OSError, OverflowError) as error:
            problem = error
    raise TautError(f"{host}, port {first}: it cannot be listened on: {getattr(problem, 'strerror', None) or problem}")


@contextlib.contextmanager
def _behind(door: Door, bound: socket.socket) -> Iterator[list[bool]]:
    """Within this, the web server that viser starts is one behind our door; the list is filled when that has happened."""
    infra = extra("view", "viser.infra._infra", "viewers")
    real, served = infra.websockets, []
    silent = logging.getLogger("taut.view.wire")  # what clients send is not for the terminal
    silent.propagate, silent.disabled = False, True

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        served.append(True)
        options |= {
            "max_size": MOST_BYTES, "max_queue": 64, "open_timeout": OPENING, "close_timeout": CLOSING, "ping_interval": ALIVE,
            "ping_timeout": ALIVE, "logger": silent, "create_connection": door.connection(), "server_header": None,
        }  # fmt: skip
        return real.asyncio.server.serve(
            lambda connection: door.serve(handler, connection), sock=bound,
            process_request=lambda connection, request: door.request(request, lambda: process_request(connection, request)),
            **options,
        )  # fmt: skip

    infra.websockets = SimpleNamespace(
        asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)), exceptions=real.exceptions, datastructures=real.datastructures
    )
    try:
        yield served
    finally:
        infra.websockets = real


def _share_compressors() -> None:
    """Let viser's senders of one thread share a compressor: it makes two for each client, of a quarter of a megabyte each."""
    infra = extra("view", "viser.infra._infra", "viewers")
    real, mine = infra.zstandard, threading.local()
    if isinstance(real, SimpleNamespace):
        return

    def compressor(level: int = 3, **options: Any) -> Any:
        if options:
            return real.ZstdCompressor(level=level, **options)
        known = mine.__dict__.setdefault("by_level", {})
        if level not in known:
            known[level] = real.ZstdCompressor(level=level)
        return known[level]

    infra.zstandard = SimpleNamespace(ZstdCompressor=compressor)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Within this, viser prints nothing."""
    console = extra("view", "rich", "viewers").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
