"""Pictures (PNG) and videos (GIF, MP4) of a run, drawn off screen with VTK.

drawing     `render`: choose frames and cameras, draw them, write the file
_fields     what colours mean: strain, stress, speed, contact force, the energy of a law
_cameras    bounding extent of a run; cameras which keep all of it in the picture
_canvas     bodies and lights as VTK actors
_floor      the ground, other planes, and the shadow
_shapes     triangles of surfaces, tubes and spheres
_legend     colour bar and time stamp
_files      limits of PNG, GIF and MP4 files, frames of a video, writing
_sheet      a contact sheet
_opengl     a VTK window without a screen (EGL, OSMesa)
"""

from taut.show.render.drawing import Rendered, render

__all__ = ["Rendered", "render"]
