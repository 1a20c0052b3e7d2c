"""Runs of built-in scenes."""

import numpy as np

import taut
from taut import scene
from taut.collision.intersections import find_intersections
from taut.system.contact_search import ContactSearch


def load_scene(name, *changes):
    return scene.load(name, overrides=changes).build()


def run(built, until=None, ledger=None):
    states = [built.state]
    states += [
        s
        for s, _ in taut.simulate(
            built.system, built.integrator, built.h, until or built.until, ledger=ledger
        )
    ]
    return states


def run_apart(built, until=None, ledger=None):
    """Return the states of a run in which nothing touches or intersects, by the exact test."""
    states = run(built, until, ledger)
    contact, movable = built.system.contact, ~np.asarray(built.system._projector.is_fixed)
    search, parts = ContactSearch(contact, movable), contact.primitives
    for state in states:
        q = np.array(state.q)
        assert not len(find_intersections(q, parts.edges, parts.triangles))
        search.problems.require_apart(q)
    return states
