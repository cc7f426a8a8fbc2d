"""What a person at the command line can put right: said in one sentence, without a traceback."""


class UsageError(Exception):
    """What is wrong, where, and what to do, in one sentence; commands print it and exit with status 2."""
