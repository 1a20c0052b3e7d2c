"""The speed of taut on this machine, as ratios to a plain C++/Eigen step.

What `taut bench` runs.
"""
