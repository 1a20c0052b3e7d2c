"""The panel of the viewer: status, playback, sliders, visible layers, plots and recording.

Each control is registered with the `Protocol` together with the values that a browser may send for
it. What a control does runs in the thread of the server and must not block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from taut.show.view._appearance import CAMERAS
from taut.show.view._plots import Plots
from taut.show.view._protocol import Protocol, is_number
from taut.show.view._replay import Replay
from taut.show.view._scene_graph import SceneGraph
from taut.show.view._snapshot import Snapshot
from taut.show.view.live import Live

_MAX_STIFFNESS, _MAX_DAMPING = 5.0, 10.0  # factors
_MAX_PULL = 100.0  # weights
_MAX_GRAVITY, _MAX_WIND = 30.0, 30.0  # [m/s²], [m/s]; more if the scene has more
_SPEEDS = {"¼×": 0.25, "½×": 0.5, "1×": 1.0, "2×": 2.0, "4×": 4.0}
_PANEL_WIDTH, _PLOTS_WIDTH = 330, 300  # pixels
_HELP = (
    "Drag a point to pull it. Click a point to pin or release it. "
    "Drag the background to rotate the view."
)


class Panel:
    """The panel of one viewer.

    protocol : accepts the values of the controls; source : what is shown; graph : its picture
    toggle_recording : called with the client that starts or saves a recording
    """

    def __init__(
        self,
        viser: Any,
        protocol: Protocol,
        source: Live | Replay,
        graph: SceneGraph,
        toggle_recording: Callable[[Any], None],
    ) -> None:
        gui = viser.gui
        self.source, self.graph = source, graph
        self.is_pinning = True
        controls = _Controls(gui, protocol)
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(48, 99, 142))
        gui.main_panel.dock_right()
        gui.main_panel.set_width(_PANEL_WIDTH)
        self.status = gui.add_markdown(self._format_status(source.newest, 0))
        with gui.add_folder("Simulation" if isinstance(source, Live) else "Playback"):
            self.play_button = controls.add_button("Play", lambda client: self._toggle_play())
            controls.add_choice("Time", ["Step", "Reset"], self._step_or_reset)
            controls.add_choice(
                "Speed", list(_SPEEDS), lambda client, label: source.set_speed(_SPEEDS[label])
            )
            self.frame_slider = None
            if isinstance(source, Replay):
                self.frame_slider = self._add_frame_slider(controls, source)
        if isinstance(source, Live):
            with gui.add_folder("Parameters"):
                _add_sliders(controls, source)
                controls.add_checkbox("Click to pin", True, partial(setattr, self, "is_pinning"))
                gui.add_markdown(_HELP)
        with gui.add_folder("View"):
            controls.add_choice("Camera", list(CAMERAS), self._set_camera)
            for layer, visible in graph.visible.items():
                controls.add_checkbox(
                    layer.capitalize(), visible, partial(graph.set_visible, layer)
                )
        plots_panel = gui.add_panel()
        with plots_panel.add_tab("Plots"):
            self.plots = Plots(gui)
        plots_panel.dock_left()
        plots_panel.set_width(_PLOTS_WIDTH)
        with gui.add_folder("Recording"):
            self.record_button = controls.add_button(
                "Start recording", toggle_recording, hint="Saves the animation as one HTML file."
            )

    def _toggle_play(self) -> None:
        if self.source.newest.playing:
            self.source.pause()
        else:
            self.source.play()

    def _step_or_reset(self, client: Any, label: str) -> None:
        if label == "Step":
            self.source.step()
        else:
            self.source.reset()

    def _add_frame_slider(self, controls: _Controls, replay: Replay) -> Any:
        last = max(replay.newest.frames - 1, 1)
        return controls.add_slider("Frame", 0, last, 1, 0, lambda value: replay.seek(int(value)))

    def _set_camera(self, client: Any, name: str) -> None:
        client.camera.up_direction = (0.0, 1.0, 0.0)
        client.camera.position = self.graph.extent.camera_position(name)
        client.camera.look_at = tuple(self.graph.extent.centre)

    def show(self, now: Snapshot, viewers: int) -> None:
        """Update status, play button and frame slider; viewers : number of connected browsers."""
        self.status.content = self._format_status(now, viewers)
        self.play_button.label = "Pause" if now.playing else "Play"
        if self.frame_slider is not None and now.frames:
            last = max(now.frames - 1, 1)
            if self.frame_slider.max != last:  # a run that is being written grows
                self.frame_slider.max = last
            self.frame_slider.value = now.frame

    def _format_status(self, now: Snapshot, viewers: int) -> str:
        model, springs = self.graph.model, self.graph.springs
        rows = [
            f"**{_escape_markdown(model.title)}**",
            f"{model.n:,} particles, {len(springs):,} springs",
        ]
        if now.frames:
            rows.append(
                f"t = {now.t:.3f} s, frame {now.frame + 1} of {now.frames}, step {now.step}"
            )
        else:
            rows.append(f"t = {now.t:.3f} s, step {now.step}, h = {1000 * now.h:.3g} ms")
            if now.pace > 0.0:
                rows.append(f"{now.pace:.2g} simulated seconds per second")
            if now.work:
                rows.append(f"⏳ {_escape_markdown(now.work)}")
        report = now.report
        if report is not None and report.outcome == "explicit":
            rows.append(f"{1000 * now.seconds:.1f} ms per step, explicit")
        elif report is not None:
            rows += [
                f"{1000 * now.seconds:.1f} ms per step, {report.iterations} Newton iterations",
                f"{report.outcome}: {report.describe_residual()}",
                report.describe_velocity_error(),
            ]
        if len(springs) and self.graph.visible["springs"]:
            rows.append(f"colours: ± {100 * self.graph.strain_colours.limit:.2g}% strain")
        if self.graph.arrows is not None and self.graph.visible["contact forces"]:
            rows.append(f"longest arrow: {self.graph.arrows.limit:g} N")
        if self.graph.inverted.count:
            rows.append(f"⚠ {self.graph.inverted.count:,} cells are turned inside out (purple)")
        if viewers:
            rows.append("1 viewer" if viewers == 1 else f"{viewers} viewers")
        warning = now.error
        if not warning and report is not None:
            warning = report.note
        if warning:
            rows.append(f"⚠ {_escape_markdown(warning)}")
        return "\n\n".join(rows)


def _add_sliders(controls: _Controls, live: Live) -> None:
    initial = live.sliders.initial

    def add(
        label: str, name: str, low: float, high: float, step: float, value: float, **options: Any
    ) -> None:
        def set_slider(value: float) -> None:
            live.set_sliders(**{name: value})

        controls.add_slider(label, low, high, step, value, set_slider, **options)

    add("Stiffness ×", "stiffness", 0.05, _MAX_STIFFNESS, 0.05, 1.0)
    add("Damping ×", "damping", 0.0, _MAX_DAMPING, 0.1, 1.0)
    highest = max(_MAX_GRAVITY, initial.gravity)
    add("Gravity [m/s²]", "gravity", 0.0, highest, 0.01, round(initial.gravity, 3))
    highest = max(_MAX_WIND, initial.wind)
    options: dict[str, Any] = {}
    if not live.sliders.has_wind_surface:
        options = {"disabled": True, "hint": "Wind needs a surface."}
    add("Wind [m/s]", "wind", 0.0, highest, 0.1, round(initial.wind, 2), **options)
    hint = "The largest force of a drag, in weights of the bodies."
    add("Pull, at most [× weight]", "pull", 0.5, _MAX_PULL, 0.5, initial.pull, hint=hint)
    h = 1000.0 * initial.h  # [ms]

    def set_step(value: float) -> None:
        live.set_sliders(h=value / 1000.0)

    controls.add_slider("Time step [ms]", h / 10, h * 4, h / 10, h, set_step)


class _Controls:
    """Adds controls to a viser panel and registers their values with the protocol.

    gui : of a ViserServer
    """

    def __init__(self, gui: Any, protocol: Protocol) -> None:
        self.gui, self._protocol = gui, protocol

    def add_button(self, label: str, on_press: Callable[[Any], None], **options: Any) -> Any:
        """Add a button; on_press : called with the client."""
        return self._connect(
            self.gui.add_button(label, **options),
            lambda value: value is True,
            lambda client, value: on_press(client),
        )

    def add_slider(
        self,
        label: str,
        low: float,
        high: float,
        step: float,
        value: float,
        on_change: Callable[[float], None],
        **options: Any,
    ) -> Any:
        """Add a slider for numbers from low to high; on_change : called with the value."""
        slider = self.gui.add_slider(
            label, min=low, max=high, step=step, initial_value=value, **options
        )
        margin = 1e-6 * (high - low)  # browsers round

        def is_possible(value: Any) -> bool:
            return (
                is_number(value)
                and slider.min - margin <= value <= slider.max + margin
                and not slider.disabled
            )

        def change(client: Any, value: float) -> None:
            on_change(min(max(value, slider.min), slider.max))

        return self._connect(slider, is_possible, change)

    def add_checkbox(self, label: str, value: bool, on_change: Callable[[bool], None]) -> Any:
        """Add a checkbox; on_change : called with the value."""
        return self._connect(
            self.gui.add_checkbox(label, value),
            lambda value: isinstance(value, bool),
            lambda client, value: on_change(value),
        )

    def add_choice(
        self, label: str, names: Sequence[str], on_press: Callable[[Any, str], None]
    ) -> Any:
        """Add a row of buttons; on_press : called with the client and the name of the button."""
        return self._connect(
            self.gui.add_button_group(label, tuple(names)),
            lambda value: isinstance(value, str) and value in names,
            on_press,
        )

    def _connect(
        self, control: Any, is_possible: Callable[[Any], bool], act: Callable[[Any, Any], None]
    ) -> Any:
        """Register the possible values of a control, and call `act` with client and value."""
        self._protocol.register_control(control._impl.uuid, is_possible)
        listen = control.on_click if hasattr(control, "on_click") else control.on_update

        async def on_event(event: Any) -> None:
            if event.client is not None:  # None: the viewer itself has set the value
                act(event.client, control.value)

        listen(on_event)
        return control


def _escape_markdown(text: str) -> str:
    """Return text which Markdown shows as it is; unprintable characters become spaces."""
    escaped = []
    for c in text:
        if c in "\\`*_{}[]<>()#+-.!|~":
            escaped.append(f"\\{c}")
        else:
            escaped.append(c if c.isprintable() else " ")
    return "".join(escaped)
