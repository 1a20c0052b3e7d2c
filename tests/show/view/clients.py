"""Clients of the viewer without a browser."""

import socket
from contextlib import contextmanager

import pytest

viser = pytest.importorskip("viser", reason="the extra view is not installed")
msgspec = pytest.importorskip("msgspec", reason="the extra view is not installed")

from websockets.exceptions import ConnectionClosed  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

PROTOCOL = f"viser-v{viser.__version__}"
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [0.0, 0.0, 3.0],
    "fov": 0.7,
    "near": 0.01,
    "far": 100.0,
    "image_height": 600,
    "image_width": 800,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 1.0, 0.0],
}


def pack_message(message):
    return msgspec.msgpack.encode(message)


@contextmanager
def open_socket(server, *, origin="ours", protocol=PROTOCOL, path="/", **options):
    """Open a web socket, by default as the page of the viewer does."""
    port = server.gateway.access.port
    ours = f"http://127.0.0.1:{port}"
    with connect(
        f"ws://127.0.0.1:{port}{path}",
        origin=ours if origin == "ours" else origin,
        max_size=None,
        subprotocols=None if protocol is None else [protocol],
        proxy=None,
        **options,
    ) as client:
        yield client


def close_code(client):
    """The code with which the server closes a connection."""
    try:
        while True:
            client.recv(timeout=30)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd is not None else None


def send_request(port, *lines):
    """The status and body of the answer to a plain request."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
        plain.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while part := plain.recv(65536):
            answer += part
    return int(answer.split()[1]), answer
