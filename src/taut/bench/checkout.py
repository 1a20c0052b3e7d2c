"""Modules of `benchmarks/`, the folder next to `src/` in a source checkout.

Reliability campaigns and drivers of other packages are for developers: they are not installed with
taut, and `taut bench` imports them only where the package itself runs from a checkout.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from taut.errors import ModelError

ROOT = Path(__file__).parents[3]


def is_checkout() -> bool:
    """Whether this package runs from a source checkout, so that `benchmarks` can be imported."""
    return (ROOT / "benchmarks" / "__init__.py").is_file()


def import_benchmarks(module: str) -> ModuleType:
    """Import `benchmarks.<module>` from the checkout that this package runs from."""
    if not is_checkout():
        raise ModelError(
            f"benchmarks.{module} is part of a source checkout, and taut runs from {ROOT}; "
            "clone the repository and install it with: pip install -e ."
        )
    # At the end of the path, so that nothing in the checkout can shadow an installed package.
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return import_module(f"benchmarks.{module}")
