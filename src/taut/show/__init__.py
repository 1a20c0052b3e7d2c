"""Show results: in the browser, as pictures and plots, and as files for other programs.

view            the viewer, live or replaying a run
render, plot    pictures and animations; diagrams
export          files for other programs
visual_model    what all of them draw: bodies, their surfaces and lines
contact_model   what of contact can be seen: planes, thickness, forces
shot            frame numbers and times of a shot
smooth_normals  normals of surfaces with sharp edges
colours         colour names and scales
output          output files: their path, the frames that go in, figures
"""
