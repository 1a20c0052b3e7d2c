"""The command line, `taut`.

- `main`: all commands, and the exit code of each error; `__main__`: `python -m taut.cli`
- `_run`: run, resume, and `_growing_cache` their option --cache; `_sweep`: sweep
- `_scenes`: scenes, new, check, schema; `_clean`: clean; `_view`: view
- `_output`: render, plot, export; `_validate`: validate; `_bench`: bench; `_info`: info
- `_inverse`: fit, sagfree; `_prove`: prove
- `_options`: options that commands share; `_help`: examples and exit codes of `--help`

Heavy imports are inside the commands, so that `taut --help` answers at once.
"""

from taut.cli.main import main

__all__ = ["main"]
