"""Inverse problems: gradients through steps, shapes and frequencies."""
