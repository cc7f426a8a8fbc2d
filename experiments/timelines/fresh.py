"""A call in a process of its own, so that nothing which it leaves in memory weighs on what is measured next."""

import multiprocessing
from collections.abc import Callable
from typing import Any

from timelines.errors import UsageError


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function(*arguments)` returns; a text is the reason why it could not.

    Raises:
        UsageError: it did.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        answer = receiver.recv()
    except EOFError:
        process.join()
        return f"its process ended with status {process.exitcode}"
    finally:
        process.join()
    if isinstance(answer, UsageError):
        raise answer
    return answer


def reason(error: BaseException) -> str:
    """Why something cannot run, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _answer(sender: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        sender.send(function(*arguments))
    except UsageError as error:
        sender.send(error)
    except Exception as error:
        sender.send(reason(error))
