"""`python -m taut.cli` is `taut`."""

from taut.cli.main import main

if __name__ == "__main__":
    main()
