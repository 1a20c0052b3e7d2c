"""Run a system through time: in memory, or recorded in a folder and resumed bit-identically.

simulate.py          `taut.simulate` and the division of time into steps
batch.py             `taut.batch`: many copies of a small system; _joined_copies.py: their steps
summary.py           totals of a run, progress, and how it ended
ledger.py            `taut.Ledger`; ledger_entry.py: one entry; energy_balance.py: its formulas
record.py            `record` and `resume`: run a system into a folder
open_run.py          `taut.open_run`: read a run folder
sampling.py          frames at any time, between those that were recorded
trajectory.py        `taut.to_xarray`: states or frames as a Dataset
run_folder.py        the folder: names of its files, its lock, the scene and inputs in it
metadata.py          what a run is; fingerprints of system and integrator
writer.py            write run.sqlite; _database.py, _connection.py: read it, trusting nothing
_tables.py           the tables of run.sqlite; encoding.py: arrays as bytes, checksums
results.py           summary.json, ledger.csv and energy.png at the end
"""
