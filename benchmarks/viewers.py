"""Load test of the viewer: many clients, of which some do not read, vanish, or are hostile.

    python -m benchmarks.viewers [--clients 50] [--stalled 10] [--disconnects 200] [--messages 2000]
    [--json]

A cloth is simulated live as fast as it goes. Another process opens 50 web sockets to it on this
machine, 10 of which never read; then 200 more that vanish without a goodbye; then it sends 2,000
hostile messages (noise, cut and overlong messages, foreign types, wrong fields, values that
controls cannot have), each over a web socket of its own, since each must end the connection; and it
asks 400 times to be let in with a foreign Host, a foreign or missing Origin, another protocol, or
without the token of a second server.

Prints the share of its time that the simulation's thread spent on publishing (at most 5%), how much
memory grew (at most 50 MB), and what was let in that should not have been (nothing). Exits with 1
if one of them is missed.
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

SHARE, GROWTH = 0.05, 50e6  # of the thread's time; bytes
FOREIGN = 400
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


def resident() -> float:
    """Memory of this process [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return float(stream.read().split()[1]) * 4096


class Crowd:
    """The other process: connections to a server, each of its own kind."""

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
        """A web socket, by default as our page opens it."""
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

    async def watch(self, ended: asyncio.Event) -> int:
        """One that reads what it is sent; how many messages that were."""
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

    async def sleep(self, ended: asyncio.Event) -> int:
        """One that never reads."""
        import msgspec

        async with self.open(max_queue=1, ping_interval=None) as client:
            await client.send(msgspec.msgpack.encode(CAMERA))
            client.transport.pause_reading()
            await ended.wait()
            client.transport.abort()
        return 0

    async def vanish(self) -> None:
        """One that is gone without a goodbye: its socket is reset."""
        import msgspec

        client = await self.open()
        await client.send(msgspec.msgpack.encode(CAMERA))
        await asyncio.sleep(self.random.random() * 0.02)
        client.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        client.transport.abort()

    def hostile(self) -> bytes | str:
        """A message that no page of ours sends."""
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
        """Send a hostile message; whether the connection was ended for it."""
        from websockets.exceptions import ConnectionClosed

        try:
            async with self.open() as client:
                await client.send(self.hostile())
                while True:
                    await asyncio.wait_for(client.recv(), 30)
        except (ConnectionClosed, ConnectionError):
            return True
        except TimeoutError:
            return False

    async def intrude(self, guarded: int) -> bool:
        """Ask to be let in without a right to it; whether that was refused."""
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
                opened = other.open()  # which wants a token
            async with opened:
                return False
        except InvalidStatus as refused:
            return refused.response.status_code == 403


async def _several(make: Any, count: int, at_once: int) -> list[Any]:
    """Do something so often, so many at a time."""
    gate = asyncio.Semaphore(at_once)

    async def one() -> Any:
        async with gate:
            return await make()

    return await asyncio.gather(*(one() for _ in range(count)))


def crowd(
    pipe: Any, port: int, guarded: int, protocol: str, controls: list[str], counts: dict[str, int]
) -> None:
    """What the other process does; tells when everybody is there, and how it went."""

    async def all_of_it() -> dict[str, Any]:
        people, ended = Crowd(port, protocol, controls), asyncio.Event()
        watching = [
            asyncio.create_task(people.watch(ended))
            for _ in range(counts["clients"] - counts["stalled"])
        ]
        asleep = [asyncio.create_task(people.sleep(ended)) for _ in range(counts["stalled"])]
        await asyncio.sleep(5.0)
        await _several(people.vanish, counts["disconnects"], 5)
        dropped = await _several(people.attack, counts["messages"], 5)
        refused = await _several(lambda: people.intrude(guarded), FOREIGN, 5)
        await asyncio.sleep(2.0)
        ended.set()
        read = await asyncio.gather(*watching)
        await asyncio.gather(*asleep)
        return {
            "taken": dropped.count(False),
            "let in": refused.count(False),
            "least": min(read),
            "most": max(read),
        }

    pipe.send(asyncio.run(all_of_it()))
    pipe.close()


def measure(counts: dict[str, int]) -> dict[str, Any]:
    """Everything, as numbers."""
    from taut.scene import load
    from taut.show.view.server import Server
    from taut.show.view.viewer import view_scene

    with view_scene(load("cloth"), port=0) as viewer:
        guarded = Server("0.0.0.0", 0)
        live, gateway = viewer.source, viewer.server.gateway
        live.set_speed(1e6)
        live.play()
        live.wait(lambda now: now.step >= 100)
        alone = _pace(live, 5.0)
        inputs = viewer.server.viser.gui._gui_input_handle_from_uuid
        before, published, worked, step = (
            resident(),
            live.publishing,
            live.working,
            live.newest.step,
        )
        commands, begun, most = live._commands, time.perf_counter(), before
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=crowd,
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
            most = max(most, resident())
            if not process.is_alive():
                raise SystemExit("the other process has died")
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
            "memory growth at the end MB": (resident() - before) / 1e6,
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


def _pace(live: Any, seconds: float) -> float:
    step = live.newest.step
    time.sleep(seconds)
    return (live.newest.step - step) / seconds


def main() -> int:
    """Measure, print, and say whether all is well."""
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
            ("publishing", result["publishing share"] >= SHARE),
            ("memory", result["memory growth MB"] >= GROWTH / 1e6),
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
        print("missed: " + ", ".join(missed) if missed else "all within bounds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
