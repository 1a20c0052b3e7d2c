"""Load test of the viewer: many clients, some of which do not read, disconnect, or are hostile.

    python -m benchmarks.viewers [--clients 50] [--stalled 10] [--disconnects 200] [--messages 2000]
    [--json]

A cloth is simulated live, as fast as possible. Another process opens 50 web sockets to it on this
machine, 10 of which never read; then 200 more that are reset without a closing handshake; then it
sends 2,000 hostile messages (noise, truncated and overlong messages, unknown types, wrong fields,
values that controls cannot have), each over a new web socket, since each must end the connection;
and it makes 400 requests with a foreign Host, a foreign or missing Origin, another protocol, or
without the token of a second server.

Prints the fraction of its time that the thread of the simulation spent on publishing (at most 5%),
the growth of memory (at most 50 MB), and the number of messages and requests that were wrongly
accepted (none). Exits with 1 if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import socket
import struct
import sys
import time
from typing import Any

MAX_PUBLISHING_SHARE = 0.05  # of the time of the simulation's thread
MAX_MEMORY_GROWTH = 50e6  # [bytes]
FOREIGN_REQUESTS = 400
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


def resident_memory() -> float:
    """Return the resident memory of this process [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return float(stream.read().split()[1]) * 4096


class Crowd:
    """Connections of the other process to a server, of several kinds."""

    def __init__(self, port: int, protocol: str, controls: list[str]) -> None:
        self.port, self.protocol, self.controls = port, protocol, controls
        self.random = random.Random(0)

    def open(
        self,
        *,
        origin: str | None = "",
        host: str | None = None,
        protocol: str | None = None,
        **options: Any,
    ) -> Any:
        """Open a web socket, by default as the page of the viewer does."""
        from websockets.asyncio.client import connect

        ours = f"http://127.0.0.1:{self.port}"
        headers = {} if host is None else {"Host": host}
        return connect(
            ours.replace("http", "ws"),
            origin=ours if origin == "" else origin,
            subprotocols=[protocol or self.protocol],
            additional_headers=headers,
            max_size=None,
            proxy=None,
            open_timeout=60,
            close_timeout=1,
            **options,
        )

    async def read_messages(self, ended: asyncio.Event) -> int:
        """Read all messages; return their number."""
        import msgspec

        count = 0
        async with self.open() as client:
            await client.send(msgspec.msgpack.encode(CAMERA))
            while not ended.is_set():
                try:
                    await asyncio.wait_for(client.recv(), 0.5)
                    count += 1
                except TimeoutError:
                    continue
        return count

    async def stall(self, ended: asyncio.Event) -> int:
        """Connect, and never read."""
        import msgspec

        async with self.open(max_queue=1, ping_interval=None) as client:
            await client.send(msgspec.msgpack.encode(CAMERA))
            client.transport.pause_reading()
            await ended.wait()
            client.transport.abort()
        return 0

    async def disconnect(self) -> None:
        """Connect, and reset the socket without a closing handshake."""
        import msgspec

        client = await self.open()
        await client.send(msgspec.msgpack.encode(CAMERA))
        await asyncio.sleep(self.random.random() * 0.02)
        client.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        client.transport.abort()

    def make_hostile_message(self) -> bytes | str:
        """Return a message that the page of the viewer never sends."""
        import msgspec

        pick, pack = self.random, msgspec.msgpack.encode
        update = {
            "type": "GuiUpdateMessage",
            "uuid": pick.choice(self.controls),
            "updates": {"value": 1.0},
        }
        return pick.choice(
            [
                pick.randbytes(pick.randrange(1, 2000)),
                "text",
                pack(CAMERA)[: pick.randrange(1, 50)],
                b"\x91" * 10_000,
                pack({**CAMERA, "fov": float("nan")}),
                pack({**CAMERA, "position": ["x"] * 3}),
                pack({**CAMERA, "more": "x" * 5000}),
                pack({"type": "ShareUrlRequest"}),
                pack({"type": "RunJavascriptMessage", "source": "alert(1)"}),
                pack(
                    {
                        "type": pick.choice(
                            [
                                "Message",
                                "GuiRemoveMessage",
                                "ResetGuiMessage",
                                "FileTransferStartUpload",
                                "__class__",
                            ]
                        )
                    }
                ),
                pack(
                    {
                        **update,
                        "updates": {"value": pick.choice([1e300, "x" * 9000, [1], {}, None])},
                    }
                ),
                pack({**update, "updates": {"removed": True}}),
                pack({**update, "updates": {"update_cb": [], "value": 1.0}}),
                pack({**update, "uuid": "unknown"}),
                b"\xc6\xff\xff\xff\xff" + b"x" * 100_000,
            ]
        )

    async def attack(self) -> bool:
        """Send a hostile message; return whether the server ended the connection."""
        from websockets.exceptions import ConnectionClosed

        try:
            async with self.open() as client:
                await client.send(self.make_hostile_message())
                while True:
                    await asyncio.wait_for(client.recv(), 30)
        except (ConnectionClosed, ConnectionError):
            return True
        except TimeoutError:
            return False

    async def intrude(self, guarded: int) -> bool:
        """Make a request that must be rejected; return whether it was."""
        from websockets.exceptions import InvalidStatus

        other = Crowd(guarded, self.protocol, [])
        kind = self.random.randrange(5)
        try:
            if kind == 0:
                opened = self.open(host="evil.example", origin="http://evil.example")
            elif kind == 1:
                opened = self.open(origin="http://evil.example")
            elif kind == 2:
                opened = self.open(origin=None)
            elif kind == 3:
                opened = self.open(protocol="viser-v0.0.0")
            else:
                opened = other.open()  # without the token
            async with opened:
                return False
        except InvalidStatus as rejected:
            return rejected.response.status_code == 403


async def _repeat(make: Any, count: int, at_once: int) -> list[Any]:
    """Call a function `count` times, at most `at_once` at the same time."""
    gate = asyncio.Semaphore(at_once)

    async def one() -> Any:
        async with gate:
            return await make()

    return await asyncio.gather(*(one() for _ in range(count)))


def run_crowd(
    pipe: Any, port: int, guarded: int, protocol: str, controls: list[str], counts: dict[str, int]
) -> None:
    """Run all connections in the other process, and send the results through a pipe."""

    async def connect_all() -> dict[str, Any]:
        clients, ended = Crowd(port, protocol, controls), asyncio.Event()
        readers = [
            asyncio.create_task(clients.read_messages(ended))
            for _ in range(counts["clients"] - counts["stalled"])
        ]
        stalled = [asyncio.create_task(clients.stall(ended)) for _ in range(counts["stalled"])]
        await asyncio.sleep(5.0)
        await _repeat(clients.disconnect, counts["disconnects"], 5)
        dropped = await _repeat(clients.attack, counts["messages"], 5)
        rejected = await _repeat(lambda: clients.intrude(guarded), FOREIGN_REQUESTS, 5)
        await asyncio.sleep(2.0)
        ended.set()
        read = await asyncio.gather(*readers)
        await asyncio.gather(*stalled)
        return {
            "taken": dropped.count(False),
            "let in": rejected.count(False),
            "least": min(read),
            "most": max(read),
        }

    pipe.send(asyncio.run(connect_all()))
    pipe.close()


def measure(counts: dict[str, int]) -> dict[str, Any]:
    """Run the load test and return its results by name."""
    from taut.scene import load
    from taut.show.view.server import Server
    from taut.show.view.viewer import view_scene

    with view_scene(load("cloth"), port=0) as viewer:
        guarded = Server("0.0.0.0", 0)
        live, gateway = viewer.source, viewer.server.gateway
        live.set_speed(1e6)
        live.play()
        live.wait(lambda now: now.step >= 100)
        alone = _measure_speed(live, 5.0)
        inputs = viewer.server.viser.gui._gui_input_handle_from_uuid
        before, published, worked, step = (
            resident_memory(),
            live.publishing,
            live.working,
            live.newest.step,
        )
        commands, begun, most = live._commands, time.perf_counter(), before
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=run_crowd,
            args=(
                theirs,
                viewer.server.address[1],
                guarded.address[1],
                gateway.subprotocol,
                list(inputs),
                counts,
            ),
        )
        process.start()
        while not ours.poll(0.2):
            most = max(most, resident_memory())
            if not process.is_alive():
                raise SystemExit("the other process has ended without results")
        told = ours.recv()
        process.join()
        seconds = time.perf_counter() - begun
        share = (live.publishing - published) / (live.working - worked)
        crowded = (live.newest.step - step) / seconds
        legitimate = counts["clients"] + counts["disconnects"] + counts["messages"]
        result = {
            "seconds": round(seconds, 1),
            "publishing share": share,
            "memory growth MB": (most - before) / 1e6,
            "memory growth at the end MB": (resident_memory() - before) / 1e6,
            "steps a second, alone": alone,
            "steps a second, in company": crowded,
            "pictures sent": viewer.broadcaster.updates,
            "messages read by the slowest and quickest reader": [told["least"], told["most"]],
            "hostile messages taken": told["taken"],
            "intruders let in": told["let in"] + max(0, gateway.counts["accepted"] - legitimate),
            "orders of others obeyed": int(live._commands != commands)
            + int(viewer.server.viser._share_tunnel is not None),
            "simulation alive": not live.newest.error and live.newest.playing,
            "refusals": dict(gateway.counts + guarded.gateway.counts),
        }
        guarded.close()
    return result


def _measure_speed(live: Any, seconds: float) -> float:
    """Return the number of steps per second."""
    step = live.newest.step
    time.sleep(seconds)
    return (live.newest.step - step) / seconds


def main() -> int:
    """Run the load test, print the results, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (
        ("clients", 50),
        ("stalled", 10),
        ("disconnects", 200),
        ("messages", 2000),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    result = measure(
        {name: getattr(given, name) for name in ("clients", "stalled", "disconnects", "messages")}
    )
    missed = [
        what
        for what, bad in (
            ("publishing", result["publishing share"] >= MAX_PUBLISHING_SHARE),
            ("memory", result["memory growth MB"] >= MAX_MEMORY_GROWTH / 1e6),
            ("hostile messages", result["hostile messages taken"] > 0),
            ("intruders", result["intruders let in"] > 0),
            ("orders", result["orders of others obeyed"] > 0),
            ("the simulation", not result["simulation alive"]),
        )
        if bad
    ]
    if given.json:
        print(json.dumps({**result, "missed": missed}, indent=1))
    else:
        for name, value in result.items():
            print(f"{name:50} {value:.4g}" if isinstance(value, float) else f"{name:50} {value}")
        print("missed: " + ", ".join(missed) if missed else "all limits are kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
