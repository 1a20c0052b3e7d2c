"""Every law and integrator is covered by the tests of its kind."""

import importlib
import inspect
import pkgutil
import re

import pytest

import taut.laws
import taut.step
from taut.binding.law import Law
from taut.errors import MissingExtra
from taut.step.integrator import Integrator
from tests.laws.specimens import DISSIPATIONS, ENERGIES, LOADS
from tests.laws.test_integrators import OBEYS, Unprojected
from tests.laws.test_totals import TOTALS


def _modules(package):
    return [
        importlib.import_module(f"{package.__name__}.{m.name}")
        for m in pkgutil.iter_modules(package.__path__)
    ]


def test_laws_and_integrators_are_defined_in_their_packages():
    for info in pkgutil.walk_packages(taut.__path__, "taut."):
        if info.name.startswith(("taut.laws", "taut.step")) or info.name == "taut.__main__":
            continue
        try:
            module = importlib.import_module(info.name)
        except MissingExtra:  # a bridge to a package that is not installed
            continue
        for value in vars(module).values():
            assert not (isinstance(value, Law) and value.__module__ == info.name), info.name
            assert not (
                isinstance(value, type)
                and issubclass(value, Integrator)
                and value.__module__ == info.name
            ), info.name


def test_every_law_has_a_specimen():
    modules = [*_modules(taut.laws), *_modules(taut.step)]
    found = {v.name: v for module in modules for v in vars(module).values() if isinstance(v, Law)}
    assert {n for n, law in found.items() if law.kind == "energy"} == {*ENERGIES, *TOTALS}
    assert {n for n, law in found.items() if law.kind == "dissipation"} == set(DISSIPATIONS)
    assert {n for n, law in found.items() if law.kind == "load"} == set(LOADS)


def test_every_law_is_public_under_its_name():
    for name in [*ENERGIES, *TOTALS, *DISSIPATIONS, *LOADS]:
        assert getattr(taut.laws, name).name == name
        assert name in taut.laws.__all__


def _every_law():
    every = [s.law for s in [*ENERGIES.values(), *DISSIPATIONS.values(), *LOADS.values()]]
    return [*every, *(getattr(taut.laws, name) for name in TOTALS)]


@pytest.mark.parametrize("law", _every_law(), ids=lambda law: law.name)
def test_every_law_states_its_formula_and_parameters(law):
    """V = … of an energy, Ψ = … of a dissipation, f = … of a load.

    Every parameter has a unit, [1] if dimensionless.
    """
    symbol = {"energy": "V", "dissipation": "Ψ", "load": "f"}[law.kind]
    assert re.search(rf"(?<!\w){symbol} = \S", law.__doc__), (
        f"{law.name} does not state its formula"
    )
    for parameter in law.parameters:
        line = re.search(rf"^ *{parameter} : (.*)$", law.__doc__, re.MULTILINE)
        assert line, f"{law.name} does not document '{parameter}'"
        assert re.search(r"\[[^\]]+\]", line[1]), (
            f"{law.name} does not give the unit of '{parameter}'"
        )


@pytest.mark.parametrize("law", _every_law(), ids=lambda law: law.name)
def test_every_law_has_an_explanation(law):
    """A paragraph follows the parameters.

    It gives the source, when to use the law and alternatives.
    """
    after = re.split(r"^ *\w+ : .*$", law.__doc__, flags=re.MULTILINE)[-1]
    assert len(after.split()) > 20
    assert "`" in after, (
        f"{law.name} names no other law or function to go with it or to use instead"
    )


def test_every_integrator_is_tested():
    """`Adaptive` wraps another integrator.

    It is tested in tests/step/test_adaptive.py.
    """
    found = {
        v
        for module in _modules(taut.step)
        for v in vars(module).values()
        if isinstance(v, type) and issubclass(v, Integrator) and not inspect.isabstract(v)
    }
    assert found == {*OBEYS, taut.Adaptive} - {Unprojected}
    assert all(getattr(taut, integrator.__name__) is integrator for integrator in found)
