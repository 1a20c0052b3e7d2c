"""`python -m taut.cli` runs `taut`."""

from taut.cli.main import main

if __name__ == "__main__":
    main()
