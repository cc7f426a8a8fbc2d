"""`python -m timelines` is the `timelines` command where nothing is installed."""

from timelines.cli import main

main()
