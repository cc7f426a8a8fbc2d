"""The `timelines` command."""

import contextlib
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from timelines import contract, gpus, sources
from timelines.errors import UsageError

app = typer.Typer(add_completion=False, help="Where training memory goes, by category, over time.")
_Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")]
_Data = Annotated[Path, typer.Option(help="The data folder.")]
# What a model is and how it is trained, as several commands take it.
_Target = Annotated[str, typer.Argument(help="A workload's name, a config.json, or package.module:function.")]
_Batch = Annotated[int | None, typer.Option(help="Batch size.")]
_SeqLen = Annotated[int | None, typer.Option(help="Tokens per sequence.")]
_Dtype = Annotated[str, typer.Option(help="float32, bfloat16, or float16 or bfloat16-autocast over float32 weights.")]
_Optimizer = Annotated[str, typer.Option(help="A name in torch.optim, or package.module:Class.")]
_Implementation = Annotated[str | None, typer.Option(help="for-loop, foreach or fused.")]
_Settings = Annotated[list[str] | None, typer.Option("--set", help="Of the optimizer, as key=value.")]
_Checkpoint = Annotated[bool, typer.Option("--checkpoint-activations", help="Recompute them in backward.")]
_Mode = Annotated[Literal["default", "backprop", "both"], typer.Option(help="Which loop.")]


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
    device: _Device = "auto",
    data: _Data = sources.DATA,
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


@app.command()
def plan(
    target: _Target,
    batch: _Batch = None,
    seq_len: _SeqLen = None,
    dtype: _Dtype = "float32",
    optimizer: _Optimizer = "AdamW",
    optimizer_impl: _Implementation = None,
    setting: _Settings = None,
    checkpoint: _Checkpoint = False,
    mode: _Mode = "both",
    memory: Annotated[str | None, typer.Option(help="What must suffice, such as 24GB or 24GiB.")] = None,
    gpu: Annotated[str | None, typer.Option(help=f"One of {', '.join(gpus.GPUS)}.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a memory_timelines.json there (needs both modes).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report there (needs both modes).")] = None,
    find_batch: Annotated[
        bool, typer.Option("--find-batch", help="Find the largest batch and sequence that fit.")
    ] = False,
) -> None:
    """Predict a model's training memory over time, both ways, with no GPU and nothing allocated."""
    with _no_search_for_cycles():
        from timelines import plan_command

        chosen = plan_command.Model(target, batch, seq_len, dtype, checkpoint)
        trained_by = plan_command.optimizers.parse(optimizer, optimizer_impl, setting or ())
        modes = _modes(mode)
        capacity = gpus.parse_memory(memory) if memory else None
        plan_command.run(chosen, trained_by, modes, gpu, capacity, out, report, as_json, find_batch)


@app.command()
def measure(
    target: _Target,
    batch: _Batch = None,
    seq_len: _SeqLen = None,
    dtype: _Dtype = "float32",
    optimizer: _Optimizer = "AdamW",
    optimizer_impl: _Implementation = None,
    setting: _Settings = None,
    checkpoint: _Checkpoint = False,
    mode: _Mode = "both",
    device: _Device = "auto",
    steps: Annotated[int, typer.Option(min=1, help="Steps to time, after two to warm up.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the figures there, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train a model for some steps on a device, both ways, and set its peak beside the planned one.

    A mode that does not fit on the GPU is listed with what CUDA said; the other is measured all the same.
    """
    from timelines import measure_command, plan_command

    chosen = plan_command.Model(target, batch, seq_len, dtype, checkpoint)
    trained_by = plan_command.optimizers.parse(optimizer, optimizer_impl, setting or ())
    measure_command.run(chosen, trained_by, _modes(mode), device, steps, out, as_json)


def _modes(mode: str) -> tuple[str, ...]:
    return contract.MODES if mode == "both" else (mode,)


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """A plan makes millions of objects and few cycles; to search for these took a fifth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # nor on the way out
        if was_on:
            gc.enable()


@app.command()
def plans(
    names: Annotated[list[str] | None, typer.Argument(help="Which of the gallery; all by default.")] = None,
    data: _Data = sources.DATA,
) -> None:
    """Remake data/plans and data/simulated: predicted timelines of known models, and published figures beside ours."""
    from timelines import gallery, ladder

    gallery.make(data / "plans", names or ())
    if not names:
        gallery.make_simulated(data)
        ladder.write(data / "plans")


@app.command()
def bench(
    parts: Annotated[list[str] | None, typer.Argument(help="races, growth or clipping; all by default.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    optimizer: Annotated[list[str] | None, typer.Option(help="adamw or sgd; may be repeated.")] = None,
    dtype: Annotated[
        str | None, typer.Option(help="As for plan. Default: bfloat16 on a GPU, float32 on a CPU.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny models, to see that everything runs.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Steps of each contestant at most, interleaved.")] = 60,
    seconds: Annotated[float, typer.Option(min=0, help="How long a race takes at most, beyond six rounds.")] = 30,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    data: _Data = sources.DATA,
) -> None:
    """Race BackProp against the plain loop and other ways to free gradients early: step time and peak memory.

    Each part is filed under data/benchmarks (with --quick, data/quick), in a folder named for device and dtype, as
    soon as it is measured.
    """
    from timelines.bench import command

    effort = rounds, seconds, threads
    command.Run(command.plan(parts or [], model or [], optimizer or [], dtype, quick, effort, data))()


# What typer raises for a wrong command line: click's own class, wherever this typer keeps it.
_WrongCommandLine: Any = typer.BadParameter.__mro__[2]


def main() -> None:
    """Runs the command. Exits with status 2 and one sentence when something can be put right."""
    if not sys.argv[1:]:
        sys.argv.append("--help")
    try:
        sys.exit(app(standalone_mode=False))
    except (UsageError, contract.ContractError) as error:
        sentence = str(error)
    except _WrongCommandLine as error:
        sentence = f"{error.format_message().rstrip('.')}; timelines {sys.argv[1]} --help lists what there is"
    print(f"timelines: error: {sentence}", file=sys.stderr)
    sys.exit(2)
