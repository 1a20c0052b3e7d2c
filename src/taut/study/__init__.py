"""Parameter studies: many runs of one scene, or many calls of one function, on Dask.

sweep           `taut.sweep`; `resume_study`, and how a plan is carried out
plan            from what the user asks for to the jobs of the runs
values          lists and ranges; samples: grid, Latin hypercube, Sobol and Saltelli designs
measures        expressions over a run; quantities: what they are made of; time_series: over time
job             one run on a worker, from plain data to its result
cluster         the workers: started here, or behind a scheduler that runs already
worker_signals  what those that are started here do at Ctrl-C: nothing
study_folder    what is on the disk: the description, and one file for each run that is done
study           `Study`: the table, in memory and as files; sobol_indices: `Indices`
study_file      study files: a scene, what varies and what is measured, as TOML
"""

from taut.study.sobol_indices import Indices
from taut.study.study import Study, open_study
from taut.study.sweep import StudyProgress, resume_study

__all__ = ["Indices", "Study", "StudyProgress", "open_study", "resume_study"]
