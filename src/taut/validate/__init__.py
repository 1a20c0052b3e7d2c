"""Validation: compare results of taut with analytic solutions (`taut validate`).

- `cases`: a case (formula, source, expected numbers, tolerance), its result, and the registry
- `report`: run cases; table, JSON, and the page `docs/validation.md` with its plots
- `_bodies`: systems and helpers that several groups share; Richardson extrapolation; stretch test
- motion: `_oscillators`, `_pendulums`, `_waves`, `_integrators`, `_conservation`, `_energy`
- contact: `_contact`, `_friction`, `_capstan`
- lines: `_chains`, `_cables`, `_rods`, `_beams`, `_buckling`
- frames and shells through limit points: `_paths`; trusses: `_trusses`
- sheets and solids: `_lattices`, `_moduli`, `_continua`, `_shells`, `_fabrics`,
  `_pressure`, `_forms`, `_films`

Each of the last 24 files is one group of cases; its name without the underscore is the group.
"""
