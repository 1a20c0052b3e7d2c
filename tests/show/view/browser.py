"""A page in a real browser, and access to the vertices of the three.js scene that it draws."""

import shutil
import time
from contextlib import contextmanager

import numpy as np

ARGUMENTS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
]
TIMEOUT = 60.0  # seconds, for a busy machine
# Chromium reports this about viser's camera during a drag.
HARMLESS = {"Unable to preventDefault inside passive event listener invocation."}
# three.js reports every new scene to a listener of this name: the way to the geometry it draws.
LISTEN = """
window.scenes = [];
window.__THREE_DEVTOOLS__ = new EventTarget();
window.__THREE_DEVTOOLS__.addEventListener("observe", (e) => {
  if (e.detail.isScene) window.scenes.push(e.detail);
});
"""
VERTICES = """([count, corners]) => {
  for (const scene of window.scenes) {
    let found = null;
    scene.traverse((o) => {
      const g = o.isMesh && !o.isInstancedMesh ? o.geometry : null;
      const p = g && g.attributes.position;
      if (p && p.count === count && g.index && g.index.count === corners)
        found = [Array.from(p.array), Array.from(g.index.array)];
    });
    if (found) return found;
  }
  return null;
}"""


def find_chromium():
    """Return the path of a Chromium, or None."""
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


def until(fulfilled, what):
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + TIMEOUT
    while not (value := fulfilled()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return value


class Watched:
    """A page whose errors are collected."""

    def __init__(self, page):
        self.page, self.errors = page, []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _heard(self, message):
        if message.type == "error" and message.text not in HARMLESS:
            self.errors.append(message.text)

    def vertices(self, triangles, count):
        """Return the browser's vertices (count, 3) of the mesh with these triangles, or None."""
        held = self.page.evaluate(VERTICES, [count, triangles.size])
        if held is None:
            return None
        assert np.array_equal(np.array(held[1]).reshape(-1, 3), triangles)
        return np.array(held[0], dtype=np.float32).reshape(-1, 3)

    def holds(self, piece, q):
        """Wait until the browser's vertices are these positions, bit by bit as 32-bit numbers."""
        wanted = piece.positions(q).astype(np.float32)

        def same():
            now = self.vertices(piece.triangles, len(wanted))
            return now is not None and np.array_equal(now, wanted)

        until(same, "the browser does not hold the vertices of the state")

    def slider(self, label):
        """The thumb of a slider."""
        control = self.page.get_by_text(label, exact=True).get_attribute("for")
        return self.page.locator(f"[id='{control}'] [role=slider]")

    def at(self, camera, place):
        """Project a place [m] to the page [pixels] with a client's camera.

        Also return how far [m] one pixel to the right and one down are at that place: two vectors
        parallel to the screen.
        """
        w, x, y, z = camera.wxyz
        turned = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        right, down, ahead = turned.T @ (
            np.asarray(place) - camera.position
        )  # it looks along its z, and its y points down
        box = self.page.locator("canvas").first.bounding_box()
        scale = box["height"] / 2 / np.tan(camera.fov / 2) / ahead
        middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        return middle + scale * np.array([right, down]), turned[:, :2].T / scale


@contextmanager
def open_page(chromium, url, **options):
    """Open a page and wait until it draws."""
    context = chromium.new_context(
        viewport={"width": 1000, "height": 440}, device_scale_factor=0.5, **options
    )
    context.set_default_timeout(1000 * TIMEOUT)
    context.add_init_script(LISTEN)
    watched = Watched(context.new_page())
    try:
        watched.page.goto(url)
        watched.page.wait_for_selector("canvas")
        yield watched
    finally:
        context.close()
