"""What is not collected: doctests of modules whose extra is not installed."""

from importlib.util import find_spec

collect_ignore = ["src/taut/study/sweep.py"] if find_spec("distributed") is None else []
collect_ignore += [
    f"src/taut/bridge/{package}.py" for package in ("jax", "torch") if find_spec(package) is None
]
