"""The viewer in the browser: a live simulation, or the replay of a run.

`Live` and `Replay` each run in their own thread and publish snapshots; a `Broadcaster` sends the
newest one to the browsers, as often as they can take it. Watching never slows the simulation down.

Entry points
    viewer          `view_scene`, `view_system`, `view_run`; the broadcaster
    saving          `save_run` and recordings: one self-contained HTML animation
    live            a simulation that is watched and controlled while it runs

Server, from the network inwards
    server          viser's server behind the gateway
    _gateway        checks every request, connection and message
    _access         which requests are accepted: Host, Origin, token
    _protocol       which messages are accepted

Sources of snapshots
    _snapshot       `Snapshot`, and the thread that publishes them
    _commands       play, step, sliders, drags and clicks as one immutable record
    _sliders        stiffness, damping, gravity and wind as factors on the laws
    _drag_and_pin   dragging as an energy, pinning as a constraint
    _replay         a recorded run

In the browser
    _scene_graph    surfaces, springs, particles as nodes of viser's scene
    _ground         ground and planes of the scene, or a grid for orientation
    _contact_arrows contact forces as arrows
    _inverted_cells solid cells turned inside out
    _appearance     colours, markers, cameras, strain of springs
    _panel          status, controls, layers
    _plots          energy and residual over time
    _picking        which particle the pointer means
"""
