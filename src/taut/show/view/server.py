"""A viser server behind the gateway.

By default viser listens on all interfaces, accepts everybody, and offers a public tunnel. Here it
gets a socket that is already bound, the gateway in front of its web server (`_gateway`), and no
tunnel. If the gateway cannot be installed, nothing is served.

viser has no option for any of this. `_install_gateway` and `_share_compressors` replace names in
viser's module `viser.infra._infra`, which is why `pyproject.toml` pins its minor version.
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
from taut.extras import import_extra
from taut.show.view._access import AccessPolicy
from taut.show.view._gateway import MAX_CLIENTS, Gateway
from taut.show.view._protocol import MAX_MESSAGE_BYTES, Protocol

_FIRST_PORT, _PORTS_TRIED = 8080, 20
_MAX_QUEUED_MESSAGES = 64  # of one client
_HANDSHAKE_SECONDS, _CLOSE_SECONDS, _PING_SECONDS = 10.0, 2.0, 20.0
_install_lock = threading.Lock()  # the module of viser is patched for one server at a time


class Server:
    """A server for browsers, with an empty scene.

    host : to listen on; port : its number, 0 for any, None for the first free one from 8080
    address : host and port on which it listens; viser : the ViserServer
    gateway, protocol : see `_gateway` and `_protocol`

    >>> server = Server(port=0)
    >>> server.url.startswith("http://127.0.0.1:")
    True
    >>> server.close()
    """

    def __init__(self, host: str = "127.0.0.1", port: int | None = None) -> None:
        viser = require_viser()
        listener = _listen(host, port)
        self.address: tuple[str, int] = listener.getsockname()[:2]
        self.protocol = Protocol()
        access = AccessPolicy.for_server(host, self.address[1])
        self.gateway = Gateway(access, self.protocol, f"viser-v{viser.__version__}")
        try:
            with (
                _install_lock,
                _silence_console(),
                _install_gateway(self.gateway, listener) as installed,
            ):
                _share_compressors()
                self.viser = viser.ViserServer(
                    host=host, port=self.address[1], label="taut", verbose=False
                )
        except BaseException:
            listener.close()
            raise
        if not installed:
            listener.close()
            self.close()
            raise TautError(
                "the gateway could not be installed in this version of viser; "
                "it is not started unguarded"
            )
        messages = import_extra("view", "viser._messages", "viewers")
        for kind in (messages.ShareUrlRequest, messages.ShareUrlDisconnect):
            self.viser._websock_server.unregister_handler(kind)
        self.viser.request_share_url = _reject_tunnel

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return self.gateway.access.url

    def close(self) -> None:
        """Disconnect all clients and free the port."""
        with _silence_console():
            self.viser.stop()


def require_viser() -> Any:
    """Import viser; MissingExtra if the extra `view` is not installed."""
    return import_extra("view", "viser", "viewers")


def _reject_tunnel(*arguments: Any, **options: Any) -> None:
    raise TautError("the public tunnel is disabled")


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on a host and port."""
    if port is None:
        ports = range(_FIRST_PORT, _FIRST_PORT + _PORTS_TRIED)
    else:
        ports = range(port, port + 1)
    for number in ports:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, number), family=family, backlog=MAX_CLIENTS)
        except (OSError, OverflowError) as error:
            problem = error
    reason = getattr(problem, "strerror", None) or problem
    raise TautError(f"cannot listen on {host}, port {ports[0]}: {reason}")


@contextlib.contextmanager
def _install_gateway(gateway: Gateway, listener: socket.socket) -> Iterator[list[bool]]:
    """Put the gateway in front of the web server that viser starts within this context.

    Yields a list that is empty until viser has started its web server through the gateway.
    """
    infra = import_extra("view", "viser.infra._infra", "viewers")
    websockets, installed = infra.websockets, []
    silent = logging.getLogger("taut.view.protocol")
    # Errors in messages of clients must not reach the terminal, which any client could flood.
    silent.propagate, silent.disabled = False, True

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        installed.append(True)
        options |= {
            "max_size": MAX_MESSAGE_BYTES,
            "max_queue": _MAX_QUEUED_MESSAGES,
            "open_timeout": _HANDSHAKE_SECONDS,
            "close_timeout": _CLOSE_SECONDS,
            "ping_interval": _PING_SECONDS,
            "ping_timeout": _PING_SECONDS,
            "logger": silent,
            "create_connection": gateway.make_connection_class(),
            "server_header": None,
        }
        return websockets.asyncio.server.serve(
            lambda connection: gateway.serve_client(handler, connection),
            sock=listener,
            process_request=lambda connection, request: gateway.handle_request(
                request, lambda: process_request(connection, request)
            ),
            **options,
        )

    infra.websockets = SimpleNamespace(
        asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
        exceptions=websockets.exceptions,
        datastructures=websockets.datastructures,
    )
    try:
        yield installed
    finally:
        infra.websockets = websockets


def _share_compressors() -> None:
    """Let the clients that viser serves in one thread share a compressor.

    viser makes two for each client, of a quarter of a megabyte each.
    """
    infra = import_extra("view", "viser.infra._infra", "viewers")
    zstandard, thread = infra.zstandard, threading.local()
    if isinstance(zstandard, SimpleNamespace):  # already replaced, by an earlier server
        return

    def get_compressor(level: int = 3, **options: Any) -> Any:
        if options:
            return zstandard.ZstdCompressor(level=level, **options)
        by_level = thread.__dict__.setdefault("by_level", {})
        if level not in by_level:
            by_level[level] = zstandard.ZstdCompressor(level=level)
        return by_level[level]

    infra.zstandard = SimpleNamespace(ZstdCompressor=get_compressor)


@contextlib.contextmanager
def _silence_console() -> Iterator[None]:
    """Keep viser from printing."""
    console = import_extra("view", "rich", "viewers").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
