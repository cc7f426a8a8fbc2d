"""A plan in words and a table, for a terminal."""

from rich.console import Console
from rich.table import Table

from timelines.categories import CATEGORIES, LABELS
from timelines.plan import ModePlan
from timelines.recording import Peak

_NEGLIGIBLE = 0.01  # of the peak: a saving below this is none


def show(console: Console, plans: dict[str, ModePlan], title: str, capacity: int | None) -> None:
    """Prints the peaks by category, what each is made of, the saving, the floor, and whether it fits."""
    peaks = {mode: plan.recording.peak() for mode, plan in plans.items()}
    console.print(_table(peaks, title))
    for mode, peak in peaks.items():
        console.print(f"[bold]{mode}[/] peaks in {_moment(peak)}; largest there: {_largest(peak)}.", highlight=False)
    for mode, plan in plans.items():
        if plan.recording.foreign_bytes:
            console.print(
                f"{mode}: {_gb(plan.recording.foreign_bytes)} more was there before the step and is neither the "
                "model's nor the optimizer's; it is not counted.",
                highlight=False,
            )
    for sentence in conclusions(plans, capacity):
        console.print(sentence, highlight=False)


def conclusions(plans: dict[str, ModePlan], capacity: int | None) -> list[str]:
    """What the figures mean, in sentences."""
    peaks = {mode: plan.recording.peak() for mode, plan in plans.items()}
    sentences = []
    if len(peaks) == 2:
        sentences.append(_saving(peaks["default"], peaks["backprop"]))
    if "backprop" in plans:
        floor = plans["backprop"].recording.floor()
        over = peaks["backprop"].nbytes / floor - 1
        sentences.append(
            f"The floor (parameters, optimizer state, and the largest moment of activations and one gradient) is "
            f"{_gb(floor)}; backprop is {100 * over:.2f} % above it."
        )
    if capacity is not None:
        sentences += [_fit(mode, peak.nbytes, capacity) for mode, peak in peaks.items()]
    return sentences


def _saving(default: Peak, backprop: Peak) -> str:
    saved = default.nbytes - backprop.nbytes
    if saved >= _NEGLIGIBLE * default.nbytes:
        return f"BackProp saves {_gb(saved)}, {100 * saved / default.nbytes:.1f} % of the peak."
    kinds = ("ACTIVATION", "AUTOGRAD_DETAIL", "TEMPORARY")
    return (
        f"BackProp saves nothing worth having here ({_gb(saved)}): with it the peak is in {_moment(backprop)}, where "
        f"activations, their gradients and temporaries take {_gb(sum(backprop.by_category[kind] for kind in kinds))}. "
        "What lowers that is checkpointed activations, a smaller batch or a shorter sequence."
    )


def _fit(mode: str, nbytes: int, capacity: int) -> str:
    if nbytes <= capacity:
        return (
            f"{mode} fits in {_gb(capacity)} with {_gb(capacity - nbytes)} to spare, which CUDA's context, libraries "
            "and fragmentation share."
        )
    return f"{mode} does not fit in {_gb(capacity)}: {_gb(nbytes - capacity)} too much."


def _table(peaks: dict[str, Peak], title: str) -> Table:
    table = Table(title=title, title_justify="left", show_footer=True)
    table.add_column("GB at the peak", footer="all")
    for mode, peak in peaks.items():
        table.add_column(mode, footer=f"{peak.nbytes / 1e9:.4f}", justify="right")
    for category in CATEGORIES:
        table.add_row(LABELS[category], *(f"{peak.by_category[category] / 1e9:.4f}" for peak in peaks.values()))
    return table


def _moment(peak: Peak) -> str:
    module = f", module {peak.moment.module}" if peak.moment.module else ""
    return f"{peak.moment.phase or 'the step'}{module}, at {peak.moment.operation}"


def _largest(peak: Peak) -> str:
    return ", ".join(
        f"{LABELS[category]} {' x '.join(map(str, storage.shape)) or 'scalar'} {storage.dtype} ({_gb(storage.nbytes)}"
        f"{', ' + storage.module if storage.module else ''})"
        for category, storage in peak.largest[:3]
    )


def _gb(nbytes: int) -> str:
    if abs(nbytes) >= 1e8:
        return f"{nbytes / 1e9:.2f} GB"
    return f"{nbytes / 1e6:.1f} MB" if abs(nbytes) >= 1e5 else f"{nbytes / 1e3:.1f} kB"
