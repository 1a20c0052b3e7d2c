"""The panel: what is shown in words, what steers the simulation, what is visible, and the plots."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from taut.show.view.controls import Controls
from taut.show.view.live import Live
from taut.show.view.looks import PRESETS
from taut.show.view.plots import Plots
from taut.show.view.replay import Replay
from taut.show.view.snapshot import Snapshot
from taut.show.view.stage import LAYERS, Stage
from taut.show.view.wire import Wire

STIFFEST, MOST_DAMPED, HEAVIEST, WINDIEST = 5.0, 10.0, 30.0, 30.0
SPEEDS = {"¼×": 0.25, "½×": 0.5, "1×": 1.0, "2×": 2.0, "4×": 4.0}
WIDTHS = (300, 330)  # pixels: of the plots, and of the panel
HELP = "Drag a point to pull it, click one to pin or release it. Drag beside the body to turn the view."


class Panel:
    """The panel of one viewer.

    source : what is looked at; stage : the picture; save : called with a client that wants the recording, or that starts one
    """

    def __init__(self, viser: Any, wire: Wire, source: Live | Replay, stage: Stage, save: Callable[[Any], None]) -> None:
        self.gui, self.source, self.stage = viser.gui, source, stage
        self.clicks = True  # whether a click pins and releases
        make = Controls(viser.gui, wire)
        viser.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(48, 99, 142))
        viser.gui.main_panel.dock_right()
        viser.gui.main_panel.set_width(WIDTHS[1])
        self.words = viser.gui.add_markdown(self._status(source.newest, 0))
        with viser.gui.add_folder("Run"):
            self.button = make.button("Play", self._toggle)
            make.choice("run", ["Step", "Reset"], lambda client, word: (source.step if word == "Step" else source.reset)())
            make.choice("speed", list(SPEEDS), lambda client, word: source.pace(SPEEDS[word]))
            self.scrub = self._scrubber(make, source)
        if isinstance(source, Live):
            with viser.gui.add_folder("Change"):
                self._sliders(make, source)
                make.checkbox("click pins and releases", True, lambda value: setattr(self, "clicks", value))
                viser.gui.add_markdown(HELP)
        with viser.gui.add_folder("View"):
            make.choice("camera", list(PRESETS), self._look)
            for layer in LAYERS:
                make.checkbox(layer, stage.visible[layer], partial(stage.toggle, layer))
        beside = viser.gui.add_panel()
        with beside.add_tab("Plots"):
            self.plots = Plots(viser.gui)
        beside.dock_left()
        beside.set_width(WIDTHS[0])
        with viser.gui.add_folder("Recording"):
            self.record = make.asked("Start recording", save, hint="What is shown from then on becomes one HTML file.")

    def _toggle(self) -> None:
        (self.source.pause if self.source.newest.playing else self.source.play)()

    def _scrubber(self, make: Controls, source: Live | Replay) -> Any:
        if isinstance(source, Live):
            return None
        last = max(source.newest.frames - 1, 1)
        return make.slider("frame", 0, last, 1, 0, lambda value: source.seek(int(value)))

    def _sliders(self, make: Controls, live: Live) -> None:
        start = live.tuning.start
        calm = not live.tuning.blown
        make.slider("stiffness ×", 0.05, STIFFEST, 0.05, 1.0, lambda value: live.turn(stiffness=value))
        make.slider("damping ×", 0.0, MOST_DAMPED, 0.1, 1.0, lambda value: live.turn(damping=value))
        make.slider(
            "gravity [m/s²]",
            0.0,
            max(HEAVIEST, start.gravity),
            0.01,
            round(start.gravity, 3),
            lambda value: live.turn(gravity=value),
        )
        hint = "there is no surface to blow on" if calm else None
        make.slider(
            "wind [m/s]", 0.0, max(WINDIEST, start.wind), 0.1, round(start.wind, 2), lambda value: live.turn(wind=value),
            disabled=calm, hint=hint,
        )  # fmt: skip
        ms = 1000.0 * start.h
        make.slider("h [ms]", ms / 10, ms * 4, ms / 10, ms, lambda value: live.turn(h=value / 1000.0))

    def _look(self, client: Any, word: str) -> None:
        client.camera.up_direction = (0.0, 1.0, 0.0)
        client.camera.position = self.stage.eye.preset(word)
        client.camera.look_at = tuple(self.stage.eye.centre)

    def show(self, now: Snapshot, viewers: int) -> None:
        """Bring words, buttons and the frame up to date."""
        self.words.content = self._status(now, viewers)
        self.button.label = "Pause" if now.playing else "Play"
        if self.scrub is not None and now.frames:
            if self.scrub.max != max(now.frames - 1, 1):
                self.scrub.max = max(now.frames - 1, 1)
            self.scrub.value = now.frame

    def _status(self, now: Snapshot, viewers: int) -> str:
        subject = self.stage.subject
        rows = [f"**{_plain(subject.title)}**", "", f"{subject.n:,} particles, {len(self.stage.springs):,} springs", ""]
        if now.frames:
            rows += [f"t = {now.t:.3f} s, frame {now.frame + 1} of {now.frames}, step {now.step}", ""]
        else:
            rows += [f"t = {now.t:.3f} s, step {now.step}, h = {1000 * now.h:.3g} ms", ""]
        report = now.report
        if report is not None:
            solved = "explicit" if report.outcome == "explicit" else f"{report.iterations} Newton iterations"
            rows += [f"{1000 * now.seconds:.1f} ms a step, {solved}", ""]
            if report.outcome != "explicit":
                rows += [f"residual {report.residual:.1e} N of {report.limit:.1e} N: {report.outcome}", ""]
        if len(self.stage.springs) and self.stage.visible["springs"]:
            rows += [f"colours end at ± {100 * self.stage.scale.limit:g}% strain", ""]
        rows += [f"{viewers} viewer{'' if viewers == 1 else 's'}"] if viewers else []
        note = now.note or (report.note if report is not None else "")
        return "\n".join(rows) + (f"\n\n⚠ {_plain(note)}" if note else "")


def _plain(text: str) -> str:
    """Text that markdown shows as it is."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|~" else c if c.isprintable() else " " for c in text)
