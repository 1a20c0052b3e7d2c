"""A page in a real browser, and what it holds: the vertices of the three.js scene that it draws."""

import shutil
import time
from contextlib import contextmanager

import numpy as np

ARGUMENTS = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
    "--no-first-run", "--disable-sync", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
]  # fmt: skip
PATIENCE = 60.0  # seconds that a busy machine may take
HARMLESS = {"Unable to preventDefault inside passive event listener invocation."}  # Chromium, of viser's camera while one drags
# three.js tells a listener of this name about every scene that is made: so we reach the geometry that is drawn
LISTEN = """
window.scenes = [];
window.__THREE_DEVTOOLS__ = new EventTarget();
window.__THREE_DEVTOOLS__.addEventListener("observe", (e) => { if (e.detail.isScene) window.scenes.push(e.detail); });
"""
VERTICES = """([count, corners]) => {
  for (const scene of window.scenes) {
    let found = null;
    scene.traverse((o) => {
      const g = o.isMesh && !o.isInstancedMesh ? o.geometry : null;
      const p = g && g.attributes.position;
      if (p && p.count === count && g.index && g.index.count === corners) found = [Array.from(p.array), Array.from(g.index.array)];
    });
    if (found) return found;
  }
  return null;
}"""


def found():
    """Where a Chromium is, or None."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


def until(fulfilled, what):
    """Wait for what a function gives, if it is true; a busy machine may take its time."""
    end = time.monotonic() + PATIENCE
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
        """The vertices (count, 3) of the mesh with these triangles, as the browser holds them, or None if it holds none yet."""
        held = self.page.evaluate(VERTICES, [count, triangles.size])
        if held is None:
            return None
        assert np.array_equal(np.array(held[1]).reshape(-1, 3), triangles)
        return np.array(held[0], dtype=np.float32).reshape(-1, 3)

    def holds(self, piece, q):
        """Wait until the browser's vertices are these positions, as 32-bit numbers, to the last bit."""
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
        """Where on the page [pixels] a place [m] is seen by a client's camera; and how far [m] a pixel to the right and one down
        go there, parallel to the picture: two vectors."""
        w, x, y, z = camera.wxyz
        turned = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        right, down, ahead = turned.T @ (np.asarray(place) - camera.position)  # it looks along its z, and its y points down
        box = self.page.locator("canvas").first.bounding_box()
        scale = box["height"] / 2 / np.tan(camera.fov / 2) / ahead
        middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        return middle + scale * np.array([right, down]), turned[:, :2].T / scale


@contextmanager
def opened(chromium, url, **options):
    """A page at an address, drawn at least once."""
    context = chromium.new_context(viewport={"width": 1000, "height": 440}, device_scale_factor=0.5, **options)
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script(LISTEN)
    watched = Watched(context.new_page())
    try:
        watched.page.goto(url)
        watched.page.wait_for_selector("canvas")
        yield watched
    finally:
        context.close()
