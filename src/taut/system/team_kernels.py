"""The one parallel loop of all teams of threads."""

from numba import njit, prange

from taut.system.team import dismiss, help_out, lead, leads


@njit("void(i8, i8, f8[::1], i8[::1], i8[::1], i8)", parallel=True, cache=True, error_model="numpy", nogil=True)
def run(leader, work, task, table, board, threads):
    """Let one thread lead, and the others help: see `taut.system.team`, also for what is handed over."""
    for _ in prange(threads):
        if leads(board):
            lead(leader, work, task, table, board)
            dismiss(board)
        else:
            help_out(work, task, table, board)
