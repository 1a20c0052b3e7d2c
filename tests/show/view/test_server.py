"""Requests and messages that are accepted; all others are rejected without side effects."""

import gc
import socket
import threading

import numpy as np
import pytest

pytest.importorskip("viser", reason="the extra view is not installed")

from websockets.exceptions import ConnectionClosed, InvalidStatus

from taut.errors import TautError
from taut.show.view import _gateway
from taut.show.view._access import AccessPolicy
from taut.show.view.server import Server
from taut.show.view.viewer import view_scene
from tests.show.view.browser import until
from tests.show.view.clients import (
    CAMERA,
    PROTOCOL,
    close_code,
    open_socket,
    pack_message,
    send_request,
)
from tests.show.view.scenes import cloth


@pytest.fixture(scope="module")
def viewer():
    with view_scene(cloth(), port=0) as made:
        yield made


@pytest.fixture(scope="module")
def guarded():
    """A server that other machines can reach."""
    server = Server("0.0.0.0", 0)
    yield server
    server.close()


def reject_status(server, **options):
    """Return the status with which a web socket is rejected."""
    with pytest.raises(InvalidStatus) as caught, open_socket(server, **options):
        pass
    return caught.value.response.status_code


def test_listens_on_localhost_only(viewer):
    host, port = viewer.server.address
    assert host == "127.0.0.1"
    assert viewer.url == f"http://127.0.0.1:{port}/"
    with (
        pytest.raises(OSError, match="refused"),
        socket.create_connection(("127.0.0.2", port)),
    ):  # another address of this machine
        pass


def test_its_own_page_is_accepted(viewer):
    port = viewer.server.gateway.access.port
    status, answer = send_request(port, "GET / HTTP/1.1", f"Host: 127.0.0.1:{port}")
    assert status == 200
    assert b"X-Frame-Options: DENY" in answer
    assert send_request(port, "GET / HTTP/1.1", f"Host: localhost:{port}")[0] == 200
    with open_socket(viewer.server) as client:
        assert len(client.recv(timeout=30)) > 100


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "127.0.0.1:{port}x",
    "",
    "localhost.evil.example:{port}",
    "192.168.1.7:{port}",
    "127.0.0.1:{port}@evil.example",
    "evil.example#127.0.0.1:{port}",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host_is_rejected(viewer, host):
    port = viewer.server.gateway.access.port
    host = host.format(port=port)
    assert send_request(port, "GET / HTTP/1.1", f"Host: {host}")[0] == 403
    upgrade = [
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ]
    lines = [
        f"Host: {host}",
        f"Origin: http://{host}",
        f"Sec-WebSocket-Protocol: {PROTOCOL}",
        *upgrade,
    ]
    assert send_request(port, "GET / HTTP/1.1", *lines)[0] == 403


def test_a_repeated_or_missing_host_is_rejected(viewer):
    port = viewer.server.gateway.access.port
    assert (
        send_request(port, "GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", "Host: evil.example")[0]
        == 403
    )
    assert send_request(port, "GET / HTTP/1.1", "X-Other: 1")[0] == 403


ORIGINS = [
    None,
    "null",
    "http://evil.example",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "http://127.0.0.1",
    "http://localhost:{port}",
    "file://",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_web_socket_of_another_origin_is_rejected(viewer, origin):
    port = viewer.server.gateway.access.port
    before = viewer.server.gateway.counts["accepted"]
    assert reject_status(viewer.server, origin=origin and origin.format(port=port)) == 403
    if origin is not None:
        assert (
            send_request(
                port,
                "GET / HTTP/1.1",
                f"Host: 127.0.0.1:{port}",
                f"Origin: {origin.format(port=port)}",
            )[0]
            == 403
        )
    assert viewer.server.gateway.counts["accepted"] == before


@pytest.mark.parametrize("protocol", [None, "viser-v0.0.1", "chat"])
def test_another_subprotocol_is_rejected(viewer, protocol):
    assert reject_status(viewer.server, protocol=protocol) == 403


def test_remote_requests_need_a_token(guarded):
    port, token = guarded.gateway.access.port, guarded.gateway.access.token
    assert len(token) >= 32
    host = f"Host: 127.0.0.1:{port}"
    assert send_request(port, "GET / HTTP/1.1", host)[0] == 403
    assert send_request(port, "GET /?token= HTTP/1.1", host)[0] == 403
    assert send_request(port, f"GET /?token={token[:-1]} HTTP/1.1", host)[0] == 403
    assert send_request(port, f"GET /?token={token}x HTTP/1.1", host)[0] == 403
    assert send_request(port, "GET /?token=%ff%00é HTTP/1.1", host)[0] in (400, 403)
    status, answer = send_request(port, f"GET /?token={token} HTTP/1.1", host)
    assert status == 200
    assert f"Set-Cookie: taut_{port}={token}; Path=/; HttpOnly; SameSite=Strict".encode() in answer
    assert send_request(port, "GET / HTTP/1.1", host, f"Cookie: taut_{port}={token}")[0] == 200
    assert (
        send_request(port, "GET / HTTP/1.1", "Host: evil.example", f"Cookie: taut_{port}={token}")[
            0
        ]
        == 403
    )


def test_remote_web_sockets_need_a_token(guarded):
    port, token = guarded.gateway.access.port, guarded.gateway.access.token
    assert reject_status(guarded) == 403
    assert reject_status(guarded, path="/?token=wrong") == 403
    assert reject_status(guarded, additional_headers={"Cookie": f"taut_{port}=wrong"}) == 403
    assert reject_status(guarded, additional_headers={"Cookie": f"taut_{port + 1}={token}"}) == 403
    assert reject_status(guarded, path=f"/?token={token}", origin="http://evil.example") == 403
    with open_socket(guarded, additional_headers={"Cookie": f"a=b; taut_{port}={token}"}) as client:
        assert client.recv(timeout=30)


def test_each_start_has_a_new_token():
    tokens = {AccessPolicy.for_server("0.0.0.0", 80).token for _ in range(20)}
    assert len(tokens) == 20
    assert AccessPolicy.for_server("::1", 80).token is None


def test_well_formed_messages_act(viewer):
    """The control for the rejections below: the same messages, well-formed, act."""
    uuid = next(uuid for uuid, handle in sliders(viewer).items() if handle.label == "Stiffness ×")
    with open_socket(viewer.server) as client:
        client.send(pack_message(CAMERA))
        until(lambda: len(viewer.server.viser.get_clients()) == 1, "the client did not connect")
        client.send(
            pack_message({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": 2.5}})
        )
        until(
            lambda: viewer.source._commands.sliders.stiffness == 2.5,
            "the slider command did not arrive",
        )
        client.send(pack_message(drag("start")))
        until(lambda: viewer.source.newest.drags, "the drag command did not arrive")
    until(lambda: not viewer.source.newest.drags, "a client that disconnects must release its drag")
    viewer.source.set_sliders(stiffness=1.0)


def sliders(viewer):
    return viewer.server.viser.gui._gui_input_handle_from_uuid


def drag(phase, **changes):
    return {
        "type": "SceneNodeDragMessage",
        "phase": phase,
        "name": "/surface 0",
        "instance_index": None,
        "start_position": [0.5, 0.5, 0.0],
        "start_screen_pos": [0.5, 0.5],
        "end_position": [0.5, 0.5, 0.1],
        "end_screen_pos": [0.5, 0.5],
        "button": "left",
        "modifier": None,
        "owner": "",
        **changes,
    }


def hostile(viewer):
    """Messages that the page never sends: kind → bytes or text."""
    uuid = next(uuid for uuid, handle in sliders(viewer).items() if handle.label == "Stiffness ×")
    button = next(
        uuid for uuid, handle in sliders(viewer).items() if handle.label in ("Play", "Pause")
    )

    def value(given, of=uuid):
        return pack_message({"type": "GuiUpdateMessage", "uuid": of, "updates": given})

    return {
        "text": "hello",
        "nothing": b"",
        "noise": b"\xc1\xff\x00",
        "cut": pack_message(CAMERA)[:-5],
        "a number": pack_message(7),
        "a list": pack_message([1]),
        "no type": pack_message({"a": 1}),
        "a type that is no word": pack_message({"type": ["x"]}),
        "unknown": pack_message({"type": "Nonsense"}),
        "of the base": pack_message({"type": "Message"}),
        "a tunnel": pack_message({"type": "ShareUrlRequest"}),
        "its end": pack_message({"type": "ShareUrlDisconnect"}),
        "script": pack_message({"type": "RunJavascriptMessage", "source": "alert(1)"}),
        "an upload": pack_message(
            {
                "type": "FileTransferStartUpload",
                "source_component_uuid": uuid,
                "transfer_uuid": "a",
                "filename": "b",
                "mime_type": "c",
                "part_count": 10**9,
                "size_bytes": 10**12,
            }
        ),
        "a picture": pack_message({"type": "GetRenderResponseMessage", "payload": b"x" * 1000}),
        "not finite": pack_message({**CAMERA, "fov": float("nan")}),
        "infinite": pack_message({**CAMERA, "position": [0, float("inf"), 0]}),
        "too few": pack_message({**CAMERA, "wxyz": [1.0]}),
        "words for numbers": pack_message({**CAMERA, "fov": "0.7"}),
        "a field too many": pack_message({**CAMERA, "more": 1}),
        "a field less": pack_message({"type": "ViewerCameraMessage"}),
        "deep": b"\x81\xa4type" + b"\x91" * 5000 + b"\xc0",
        "long": b"\xc4" + b"x" * 20_000,
        "huge": b"\xdb\xff\xff\xff\xff",
        "other property": value({"removed": True}),
        "two properties": value({"value": 1.0, "removed": True}),
        "its callbacks": value({"update_cb": []}),
        "no property": value({}),
        "out of range": value({"value": 1e6}),
        "below": value({"value": -1.0}),
        "a word": value({"value": "x" * 10_000}),
        "a list for a value": value({"value": [1.0]}),
        "truth": value({"value": True}),
        "nan": value({"value": float("nan")}),
        "another control": value({"value": 1.0}, "no-such"),
        "not of a button": value({"value": "x"}, button),
        "a huge number": value({"value": 2**63}),
        "unknown phase": pack_message(drag("begin")),
        "far away": pack_message(drag("start", end_position=[1e300, 0, 0])),
        "a long name": pack_message(drag("start", name="/" + "x" * 1000)),
        "a negative instance": pack_message(drag("start", instance_index=-1)),
        "an odd button": pack_message(drag("start", button="back")),
        "an odd modifier": pack_message(drag("start", modifier=["shift"])),
    }


def test_hostile_messages_end_the_connection_and_change_nothing(viewer, capfd, recwarn):
    uuid = next(uuid for uuid, handle in sliders(viewer).items() if handle.label == "Stiffness ×")
    before, commands = sliders(viewer)[uuid].value, viewer.source._commands
    with open_socket(viewer.server) as good:
        good.send(pack_message(CAMERA))
        for kind, message in hostile(viewer).items():
            with open_socket(viewer.server) as client:
                client.send(message)
                assert close_code(client) in (1008, 1009), kind
        assert sliders(viewer)[uuid].value == before
        assert not sliders(viewer)[uuid]._impl.removed
        assert viewer.source._commands == commands
        viewer.source.step()
        good.recv(timeout=30)  # the other clients still receive updates
    assert viewer.server.viser._share_tunnel is None
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_invalid_drags_do_nothing(viewer):
    commands = viewer.source._commands
    with open_socket(viewer.server) as client:
        client.send(pack_message(CAMERA))
        for message in (
            drag("update"),
            drag("end"),
            drag("start", name="/nothing"),
            drag("start", name="/ground"),
            drag("start", button="right"),
            drag("start", owner="somebody"),
        ):
            client.send(pack_message(message))
        client.send(pack_message(CAMERA))
        until(lambda: len(viewer.server.viser.get_clients()) == 1, "the client was dropped")
    assert viewer.source._commands.drags == {}
    assert viewer.source._commands.clicks == commands.clicks


def test_a_client_that_sends_too_much_is_disconnected(viewer):
    with open_socket(viewer.server) as client:
        try:
            for _ in range(int(_gateway.MESSAGE_BURST) + 2000):
                client.send(pack_message(CAMERA))
        except ConnectionClosed:
            pass
        assert close_code(client) == 1008
    assert viewer.server.gateway.counts["too many messages"] >= 1


def test_the_number_of_clients_is_limited(viewer, monkeypatch):
    until(lambda: viewer.server.gateway.clients == 0, "somebody is still there")
    monkeypatch.setattr(_gateway, "MAX_CLIENTS", 2)
    with open_socket(viewer.server), open_socket(viewer.server):
        assert reject_status(viewer.server) == 403
    until(lambda: viewer.server.gateway.clients == 0, "those who left are still counted")


def test_share_tunnels_are_disabled(viewer):
    kinds = {kind.__name__ for kind in viewer.server.viser._websock_server._incoming_handlers}
    assert not kinds & {"ShareUrlRequest", "ShareUrlDisconnect"}
    with pytest.raises(TautError, match="tunnel"):
        viewer.server.viser.request_share_url()


def test_a_port_in_use_is_an_error():
    server = Server(port=0)
    taken = server.gateway.access.port
    with pytest.raises(TautError, match=f"cannot listen on 127.0.0.1, port {taken}"):
        Server(port=taken)
    server.close()


def test_without_the_gateway_nothing_is_served(monkeypatch):
    import viser.infra._infra as infra

    real = infra.websockets

    monkeypatch.setattr(
        infra.WebsockServer,
        "_background_worker",
        _bypass_gateway(infra.WebsockServer._background_worker, infra, real),
    )
    with pytest.raises(TautError, match="unguarded"):
        Server(port=0)


def _bypass_gateway(worker, infra, real):
    """A worker of viser that uses its original web server."""

    def background(self, ready):
        infra.websockets = real
        self._port = 0  # our port is already in use
        worker(self, ready)

    return background


def test_stalled_clients_use_little_memory_and_do_not_delay_others():
    """Five clients stop reading: the server keeps one message per node, others get the newest."""
    with view_scene(cloth(), port=0) as viewer:
        server = viewer.server.viser._websock_server
        stalled = [open_socket(viewer.server, max_queue=1, close_timeout=0.1) for _ in range(5)]
        for client in stalled:
            client.__enter__().send(pack_message(CAMERA))
        until(lambda: len(viewer.server.viser.get_clients()) == 5, "they are not there")
        viewer.source.set_speed(1e6)
        viewer.source.play()
        until(lambda: viewer.broadcaster.updates > 30, "nothing is sent")
        messages = len(server._broadcast_buffer.message_from_id)
        until(lambda: viewer.broadcaster.updates > 130, "the broadcaster is held up")
        assert len(server._broadcast_buffer.message_from_id) <= messages + 20
        waiting = [c.transport.get_write_buffer_size() for c in server._live_connections.values()]
        assert max(waiting) < 1_000_000
        with open_socket(viewer.server) as late:
            late.recv(timeout=30)
        step = viewer.source.newest.step
        viewer.source.wait(lambda now: now.step > step)
        for client in stalled:
            client.__exit__(None, None, None)


def test_closing_ends_all_threads():
    gc.collect()
    before = {thread.name for thread in threading.enumerate() if thread.name.startswith("taut")}
    viewer = view_scene(cloth(), port=0)
    viewer.source.play()
    viewer.source.wait(lambda now: now.step > 2)
    viewer.close()
    assert {
        thread.name for thread in threading.enumerate() if thread.name.startswith("taut")
    } == before
    with pytest.raises(OSError, match="refused"):
        send_request(viewer.server.address[1], "GET / HTTP/1.1", "Host: localhost")


def test_the_picture_is_of_the_newest_state():
    with view_scene(cloth(), port=0) as viewer:
        viewer.source.play()
        viewer.source.wait(lambda now: now.step >= 5)
        viewer.source.pause()
        now = viewer.source.wait(lambda now: not now.playing)
        wanted = viewer.model.pieces[0].positions(now.q).astype(np.float32)
        until(lambda: np.array_equal(viewer.graph.surfaces[0].vertices, wanted), "it was not shown")
        assert np.array_equal(viewer.source.newest.q, now.q)  # the state has not changed meanwhile
