"""The `timelines` command."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from timelines import contract, sources
from timelines.errors import UsageError

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Where training memory goes, by category, over time."
)


@app.command()
def run(
    size: Annotated[
        Literal["full", "quick"] | None,
        typer.Option(
            help="full: batch 2048, width 8192; quick: an eighth of each. Default: full on a GPU, else quick."
        ),
    ] = None,
    optimizer_impl: Annotated[
        Literal["for-loop", "foreach", "fused"], typer.Option(help="Implementation of AdamW.")
    ] = "for-loop",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    data: Annotated[Path, typer.Option(help="The data folder.")] = sources.DATA,
) -> None:
    """Measure the headline in both modes, file it under data/, and choose the run that the article shows."""
    from timelines import headline  # torch takes seconds to import, and `check` does without

    plan = headline.plan(device, size, optimizer_impl)
    chosen_size = next(name for name, stack in headline.SIZES.items() if stack == plan.stack)
    out = sources.folder(data, plan.device.type, chosen_size, optimizer_impl)
    shown = Path("data") / out.relative_to(data)
    headline.run(headline.plan(device, chosen_size, optimizer_impl, str(shown)), out)
    print(f"wrote {shown}")
    print(sources.select(data))


@app.command()
def check(files: Annotated[list[Path], typer.Argument(help="memory_timelines.json files.")]) -> None:
    """Check files against the contract: the JSON Schema in data/, and what no schema can say."""
    for file in files:
        contract.read(file)
        print(f"{file}: follows the contract")


def main() -> None:
    """Runs the command. Exits with status 2 and one sentence when something can be put right."""
    try:
        app()
    except (UsageError, contract.ContractError) as error:
        print(f"timelines: error: {error}", file=sys.stderr)
        sys.exit(2)
