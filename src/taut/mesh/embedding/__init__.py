"""A fine mesh that rides on a coarse one."""
