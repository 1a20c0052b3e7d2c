"""The speed of taut on this machine, as ratios to a plain C++/Eigen step: what `taut bench` runs."""
