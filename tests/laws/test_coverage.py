"""Nothing in the catalogue escapes the laws."""

import importlib
import inspect
import pkgutil

import taut.laws
import taut.step
from taut.formula.law import Law
from taut.step.integrator import Integrator
from tests.laws.specimens import DISSIPATIONS, ENERGIES, LOADS
from tests.laws.test_integrators import OBEYS
from tests.laws.test_totals import TOTALS


def _modules(package):
    return [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]


def test_there_are_no_laws_and_integrators_elsewhere():
    for info in pkgutil.walk_packages(taut.__path__, "taut."):
        if info.name.startswith(("taut.laws", "taut.step")) or info.name == "taut.__main__":
            continue
        for value in vars(importlib.import_module(info.name)).values():
            assert not (isinstance(value, Law) and value.__module__ == info.name), info.name
            assert not (isinstance(value, type) and issubclass(value, Integrator) and value.__module__ == info.name), info.name


def test_every_law_has_a_specimen():
    modules = [*_modules(taut.laws), *_modules(taut.step)]
    found = {v.name: v for module in modules for v in vars(module).values() if isinstance(v, Law)}
    assert {n for n, law in found.items() if law.kind == "energy"} == {*ENERGIES, *TOTALS}
    assert {n for n, law in found.items() if law.kind == "dissipation"} == set(DISSIPATIONS)
    assert {n for n, law in found.items() if law.kind == "load"} == set(LOADS)


def test_every_law_is_public_under_its_own_name():
    for name in [*ENERGIES, *TOTALS, *DISSIPATIONS, *LOADS]:
        assert getattr(taut.laws, name).name == name
        assert name in taut.laws.__all__


def test_every_law_states_its_formula_and_parameters():
    every = [s.law for s in [*ENERGIES.values(), *DISSIPATIONS.values(), *LOADS.values()]]
    for law in [*every, *(getattr(taut.laws, name) for name in TOTALS)]:
        for parameter in law.parameters:
            assert f"{parameter} :" in law.__doc__, f"{law.name} does not document '{parameter}'"


def test_every_integrator_is_tested():
    """An adaptive step is one of another integrator; it has tests of its own in tests/step/test_adaptive.py."""
    found = {
        v
        for module in _modules(taut.step)
        for v in vars(module).values()
        if isinstance(v, type) and issubclass(v, Integrator) and not inspect.isabstract(v)
    }
    assert found == {*OBEYS, taut.Adaptive}
    assert all(getattr(taut, integrator.__name__) is integrator for integrator in found)
