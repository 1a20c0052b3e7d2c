"""What editors and type checkers know of the catalogue is what the formulas say."""

import inspect

import pytest

import taut
from taut import laws
from taut.binding.law import Law
from tests.laws.stubs import STUB, generate

LAWS = [law for law in vars(laws).values() if isinstance(law, Law)]


def test_stubs_are_current():
    assert STUB.read_text() == generate(), "run `python -m tests.laws.stubs`"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_signatures_are_those_of_the_formulas(law):
    of_call = inspect.signature(law).parameters
    assert list(of_call) == ["elements", *law.parameters, "name", "breaking_strain"]
    of_formula = inspect.signature(law.formula).parameters
    for name in law.parameters:
        assert of_call[name].kind is inspect.Parameter.KEYWORD_ONLY
        required = of_call[name].default is inspect.Parameter.empty
        assert required == law.is_required(name)
        if of_formula[name].default is not inspect.Parameter.empty:
            assert of_call[name].default == of_formula[name].default


def test_own_laws_have_a_signature():
    @taut.load
    def push(x, v, f, gain=2.0):
        return [gain * f * v[0]]

    signature = inspect.signature(push)
    assert str(signature.replace(return_annotation=inspect.Signature.empty)).startswith(
        "(elements: 'ArrayLike | None' = None, *, f, gain=2.0, name: "
    )
    assert signature.return_annotation is taut.Load
