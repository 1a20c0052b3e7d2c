"""`python -m taut.cli` is `taut`."""

from taut.cli.main import main

main()
