import contextlib
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from small_workloads import SMALL
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils.checkpoint import checkpoint

import backprop
from backprop import BackProp
from timelines import contract, gpus, plan, profiler
from timelines.optimizers import OptimizerChoice, adamw
from timelines.recorder import Recorder, tensors_in, wall_clock
from timelines.recording import Recording
from timelines.training import TrainingStep, Workload
from workloads.checkpointing import checkpoint_activations

CPU = torch.device("cpu")
IMPLEMENTATIONS = ("for-loop", "foreach", "fused")
# Kernels that take memory of their own and give it back before they return: below the dispatcher, out of our sight.
WITH_SCRATCH = (
    "aten::convolution",
    "aten::convolution_backward",
    "aten::native_batch_norm",
    "aten::native_batch_norm_backward",
)
# At most three numbers at once, 4 bytes each, that an in-place kernel of AdamW wraps as tensors below the dispatcher.
NUMBERS = 12


def _taken(workload: Workload, mode: str, optimizer: OptimizerChoice) -> TrainingStep:
    step = TrainingStep(workload, "default", optimizer, CPU)
    if mode == "backprop":  # these models are smaller than a bucket: update one by one
        step.model, step.optimizer = BackProp(step.model, step.optimizer, bucket_bytes=0)
    step()  # makes the optimizer's state
    return step


def _sgd(model: torch.nn.Module, mode: str) -> torch.optim.Optimizer:
    optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return BackProp(model, optimizer)[1] if mode == "backprop" else optimizer


def _record(step: TrainingStep, clock: Callable[..., float] = wall_clock) -> Recording:
    recorder = Recorder(step.model, step.optimizer, clock)
    with recorder:
        step(phase=recorder.phase, see_batch=recorder.is_input)
    return Recording(recorder)


def _most(changes: Any) -> int:
    total = most = 0
    for _, change in changes:
        total += sum(change.values())
        most = max(most, total)
    return most


def _scratch(step: TrainingStep) -> int:
    """How much lower the profiler's peak of one step is without what WITH_SCRATCH kernels take and give back."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    results = profile.profiler and profile.profiler.kineto_results
    assert results is not None
    allocations: list[tuple[int, int, int, int]] = []  # time, address, bytes, which call of a kernel or 0

    def visit(event: Any, kernel: int) -> None:
        if event.tag.name == "Allocation":
            fields = event.extra_fields
            allocations.append((event.start_time_ns, fields.ptr, fields.alloc_size, kernel))
        elif event.name in WITH_SCRATCH:
            kernel = kernel or event.id
        for child in event.children:
            visit(child, kernel)

    for root in results.experimental_event_tree():
        visit(root, 0)
    allocations.sort(key=lambda allocation: allocation[0])
    born: dict[int, int] = {}
    hidden: set[int] = set()
    for index, (_, address, nbytes, kernel) in enumerate(allocations):
        if nbytes > 0:
            born[address] = index
        elif address in born:
            birth = born.pop(address)
            if kernel and allocations[birth][3] == kernel:
                hidden |= {birth, index}
    visible = ((0.0, {"": nbytes}) for index, (_, _, nbytes, _) in enumerate(allocations) if index not in hidden)
    return _most((0.0, {"": nbytes}) for _, _, nbytes, _ in allocations) - _most(visible)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("mode", contract.MODES)
@pytest.mark.parametrize("name", SMALL)
def test_the_peak_is_the_profilers_less_what_kernels_keep_to_themselves(name: str, mode: str, implementation: str):
    step = _taken(SMALL[name], mode, adamw(implementation))
    profiled = _most(profiler.record(step)[0])
    recorded = _record(step).peak().nbytes
    difference = profiled - recorded
    if name in ("linear-stack", "transformer"):
        # Fused AdamW wraps no numbers: equal to the byte.
        assert difference in ((0,) if implementation == "fused" else (0, NUMBERS))
    else:
        scratch = _scratch(step)
        assert scratch > 10_000, "these kernels need no scratch any more: expect equality instead"
        assert abs(difference - scratch) <= (0 if implementation == "fused" else NUMBERS)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("mode", contract.MODES)
@pytest.mark.parametrize("name", SMALL)
def test_fake_tensors_live_and_die_as_real_ones_do(name: str, mode: str, implementation: str):
    choice = adamw(implementation)
    real = _record(_taken(SMALL[name], mode, choice))
    with plan._Fake(allow_fallback_kernels=False):
        fake = _record(_taken(SMALL[name], mode, choice))

    def log(recording: Recording) -> list[tuple[int, str, tuple[int, ...]]]:
        return [(nbytes, storage.category, storage.shape) for _, storage, nbytes in recording.recorder.log]

    if name == "resnet":  # a kernel for real tensors may save scratch of its own for backward: at most 1 %
        assert fake.peak().nbytes == pytest.approx(real.peak().nbytes, rel=0.01)
    else:
        assert log(fake) == log(real)
    assert fake.foreign_bytes == real.foreign_bytes == 0


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", SMALL)
def test_both_modes_give_the_same_tensors_the_same_categories(name: str, implementation: str):
    plain, ours = (_record(_taken(SMALL[name], mode, adamw(implementation))) for mode in contract.MODES)

    def most(recording: Recording) -> dict[str, int]:
        running, highest = dict.fromkeys(contract.CATEGORIES, 0), dict.fromkeys(contract.CATEGORIES, 0)
        for _, change in recording.changes():
            for category, nbytes in change.items():
                running[category] += nbytes
                highest[category] = max(highest[category], running[category])
        assert all(not running[c] for c in contract.CATEGORIES if c not in ("PARAMETER", "OPTIMIZER_STATE"))
        return highest

    default, backprop_ = most(plain), most(ours)
    for category in ("PARAMETER", "OPTIMIZER_STATE", "INPUT"):
        assert default[category] == backprop_[category] > 0
    # The cut keeps one view more of the output alive: no bytes. What the loss saves is gone before the walk, or not.
    assert backprop_["ACTIVATION"] == pytest.approx(default["ACTIVATION"], rel=0.02)
    parameters = sum(p.numel() * 4 for p in SMALL[name].model(CPU).parameters())
    assert default["GRADIENT"] == parameters > backprop_["GRADIENT"] > 0


class _Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).relu())


def _recorder(model: torch.nn.Module | None = None) -> Recorder:
    model = model or _Two()
    return Recorder(model, torch.optim.SGD(model.parameters(), lr=0.1))


def test_views_and_in_place_operations_cost_nothing_and_a_shared_storage_counts_once():
    recorder = _recorder()
    with recorder:
        x = torch.zeros(10, 10)
        before = len(recorder.log)
        views = (x.view(100), x.t(), x[2:5], x.detach(), x.expand(3, 10, 10))
        x.add_(1)
        torch.mul(x, 2, out=x)
        assert len(recorder.log) == before
        del x
        assert len(recorder.log) == before  # its views hold it
        del views
        assert recorder.log[-1][2] == -400


def test_a_resized_storage_is_followed():
    recorder = _recorder()
    with recorder:
        x = torch.zeros(10)
        x.resize_(30)
        x.untyped_storage().resize_(0)
        x.untyped_storage().resize_(120)
        x.add_(1)
    sizes = [nbytes for _, storage, nbytes in recorder.log if storage.category == "TEMPORARY"]
    assert sizes[:2] == [40, 80]
    assert sum(sizes) == 120


def test_sizes_are_rounded_as_the_allocator_does():
    model = _Two()
    recorder = Recorder(model, torch.optim.SGD(model.parameters()), block=512)
    with recorder:
        kept = torch.zeros(1), torch.zeros(129)
        assert [nbytes for _, _, nbytes in recorder.log[-2:]] == [512, 1024]
    del kept


class _Keeps(torch.optim.Optimizer):
    """Keeps the last gradient as its state."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {})

    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["kept"] = p.grad


def test_a_gradient_that_is_kept_as_state_is_split_in_time():
    model = _Two()
    optimizer = _Keeps(model.parameters())
    recorder = Recorder(model, optimizer)
    with recorder:
        with recorder.phase("backward"):
            model(torch.ones(2, 64)).sum().backward()
        with recorder.phase("optimizer step"):
            optimizer.step()
        optimizer.zero_grad()
    weights = sum(p.numel() * 4 for p in model.parameters())
    running = dict.fromkeys(contract.CATEGORIES, 0)
    gradients = []
    for _, change in Recording(recorder).changes():
        for category, nbytes in change.items():
            running[category] += nbytes
        gradients.append(running["GRADIENT"])
    assert max(gradients) == weights
    assert running["GRADIENT"] == 0
    assert running["OPTIMIZER_STATE"] == weights


def test_everything_is_undone_when_the_step_raises():
    model = _Two()
    model, optimizer = BackProp(model, torch.optim.SGD(model.parameters(), lr=0.1))
    call = backprop._Update.call
    hooks = {name: len(p._backward_hooks or {}) for name, p in model.named_parameters()}
    recorder = Recorder(model, optimizer)
    with pytest.raises(RuntimeError, match="shapes"), recorder, recorder.phase("forward"):
        model(torch.ones(2, 63))
    assert recorder.failed is not None
    assert recorder.failed.module == "first"
    assert recorder.failed.operation == "aten.addmm.default"
    assert recorder.failed.phase == "forward"
    assert backprop._Update.call is call
    assert _get_current_dispatch_mode() is None
    assert not torch.nn.modules.module._global_forward_pre_hooks
    assert not torch.nn.modules.module._global_forward_hooks
    autograd = vars(torch._C)["_autograd"]
    assert autograd._top_saved_tensors_default_hooks(False) is None
    assert {name: len(p._backward_hooks or {}) for name, p in model.named_parameters()} == hooks
    model(torch.ones(2, 64)).sum().backward()
    optimizer.step()


def test_a_recorder_that_cannot_start_leaves_nothing(monkeypatch: pytest.MonkeyPatch):
    recorder = _recorder()
    monkeypatch.setattr(recorder, "_know_what_is_there", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError), recorder:
        pass
    assert not torch.nn.modules.module._global_forward_hooks
    assert _get_current_dispatch_mode() is None


class _Peaks(torch.nn.Module):
    """Needs much memory in forward only, or in backward only."""

    def __init__(self, forward: bool) -> None:
        super().__init__()
        self.small, self.large = torch.nn.Linear(8, 8), _Expands(forward)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.large(self.small(x))


class _Expands(torch.nn.Module):
    def __init__(self, in_forward: bool) -> None:
        super().__init__()
        self.in_forward = in_forward

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.in_forward:
            with torch.no_grad():
                x.new_ones(10_000).cos()
        return _Backward.apply(x, not self.in_forward)


class _Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, large: bool) -> torch.Tensor:
        ctx.large = large
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        if ctx.large:
            gradients[0].new_ones(10_000).sin()
        return gradients[0], None


@pytest.mark.parametrize(
    ("mode", "in_forward", "phase", "operation"),
    [
        ("default", True, "forward", "aten.cos.default"),
        ("default", False, "backward", "aten.sin.default"),
        ("backprop", True, "forward", "aten.cos.default"),
        ("backprop", False, "the walk inside optimizer step", "aten.sin.default"),
    ],
)
def test_the_peak_is_named(mode: str, in_forward: bool, phase: str, operation: str):
    model = _Peaks(in_forward)
    optimizer = _sgd(model, mode)
    recorder = Recorder(model, optimizer)
    with recorder:
        with recorder.phase("forward"):
            loss = model(torch.ones(2, 8)).sum()
        with recorder.phase("backward"):
            loss.backward()
        with recorder.phase("optimizer step"):
            optimizer.step()
    peak = Recording(recorder).peak()
    assert (peak.moment.module, peak.moment.operation, peak.moment.phase) == ("large", operation, phase)
    assert [storage.shape for _, storage in peak.largest[:2]] == [(10_000,), (10_000,)]
    assert {storage.module for _, storage in peak.largest[:2]} == {"large"}
    assert peak.largest[0][1].dtype == "float32"


@pytest.mark.parametrize("mode", contract.MODES)
def test_what_a_checkpoint_computes_again_is_activation(mode: str):
    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return checkpoint(self.block, x, use_reentrant=False)

    model = Checkpointed()
    optimizer = _sgd(model, mode)
    recorder = Recorder(model, optimizer)
    with recorder:
        with recorder.phase("forward"):
            loss = model(torch.ones(256, 64)).square().mean()
        with recorder.phase("backward"):
            loss.backward()
        with recorder.phase("optimizer step"):
            optimizer.step()
    again = [s for _, s, n in recorder.log if n > 0 and s.operation == "aten.addmm.default" and s.module == "block.0"]
    assert [s.category for s in again] == ["TEMPORARY", "ACTIVATION"]  # in forward, and in the walk


@pytest.mark.parametrize("mode", contract.MODES)
def test_checkpointing_moves_the_peak_down(mode: str):
    class Checkpointed:
        def __getattr__(self, name: str) -> Any:
            return getattr(SMALL["transformer"], name)

        def model(self, device: torch.device) -> torch.nn.Module:
            model = SMALL["transformer"].model(device)
            checkpoint_activations(model)
            return model

    workload: Any = Checkpointed()
    kept = _record(_taken(SMALL["transformer"], mode, adamw("fused"))).peak()
    again = _record(_taken(workload, mode, adamw("fused"))).peak()
    assert again.by_category["ACTIVATION"] < kept.by_category["ACTIVATION"] or mode == "default"
    assert again.nbytes <= kept.nbytes


class _Branches(torch.autograd.Function):
    """Twice the input, in a backward that adds tensors of its own: that sum is a new tensor, watched or not."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients[0].mul(1) + gradients[0].mul(1)


class _Tied(torch.nn.Module):
    """One large weight used twice: the peak is where its two gradients meet."""

    def __init__(self, doubled: bool) -> None:
        super().__init__()
        self.weight, self.doubled = torch.nn.Parameter(torch.ones(300, 300)), doubled

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = x @ self.weight
        return (_Branches.apply(hidden) if self.doubled else hidden) @ self.weight


@pytest.mark.parametrize("rows", [3, 600], ids=["weights", "activations"])
@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("mode", contract.MODES)
def test_gradients_of_two_branches_are_added_in_place_as_without_a_recorder(mode: str, doubled: bool, rows: int):
    class Branches:
        def model(self, device: torch.device) -> torch.nn.Module:
            return _Tied(doubled)

        def batch(self, device: torch.device) -> torch.Tensor:
            return torch.ones(rows, 300)

        def loss(self, model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
            return model(batch).square().sum()  # an expanded gradient would be copied inside mm, out of sight

    workload: Any = Branches()
    step = _taken(workload, mode, adamw("fused"))
    assert _record(step).peak().nbytes == _most(profiler.record(step)[0])


@pytest.mark.parametrize("mode", contract.MODES)
def test_tied_weights_count_once_and_have_one_gradient(mode: str):
    recording = _record(_taken(SMALL["transformer"], mode, adamw("fused")))
    model = SMALL["transformer"].model(CPU)
    weights = sum(p.numel() * 4 for p in model.parameters())
    assert recording.peak().by_category["PARAMETER"] == weights
    tied = [s for _, s, n in recording.recorder.log if n > 0 and s.category == "GRADIENT" and s.shape == (64, 32)]
    assert 1 <= len(tied) <= 2  # one from the head; autograd adds the embedding's, in place or anew


@pytest.mark.parametrize("mode", contract.MODES)
def test_gradients_of_micro_batches_add_up_and_coexist(mode: str):
    model = _Two()
    optimizer = _sgd(model, mode)
    recorder = Recorder(model, optimizer)
    with recorder:
        for _ in range(3):
            with recorder.phase("forward"):
                loss = model(torch.ones(2, 64)).sum()
            with recorder.phase("backward"):
                loss.backward()
        with recorder.phase("optimizer step"):
            optimizer.step()
        optimizer.zero_grad()
    weights = sum(p.numel() * 4 for p in model.parameters())
    running, most = 0, 0
    for _, change in Recording(recorder).changes():
        running += change.get("GRADIENT", 0)
        most = max(most, running)
    assert running == 0
    assert weights <= most <= 2 * weights


def test_the_batch_is_input_wherever_it_is_nested():
    recorder = _recorder()
    with recorder:
        batch = {"x": [torch.zeros(5)], "y": (torch.zeros(7), None)}
        recorder.is_input(batch)
    assert [s.category for _, s, n in recorder.log if n in (20, 28)] == ["INPUT", "INPUT"]


def test_what_was_there_before_and_belongs_to_nobody_is_told_apart():
    stranger = torch.ones(50, 2)
    recorder = _recorder()
    with recorder:
        stranger.add(1)
        stranger.add(2)
    assert recorder.foreign == [("torch.float32", (50, 2), 400)]


def test_tensors_are_found_as_torch_finds_them():
    from torch.utils._pytree import tree_leaves

    a, b, c = torch.zeros(1), torch.zeros(2), torch.nn.Parameter(torch.zeros(3))
    pair = torch.zeros(4, 4).max(dim=0)
    for nested in (a, [a, (b, {"c": c})], (), {"x": None, "y": 3}, pair, [pair, a], {"z": [[[b]]]}, "text"):
        expected = [leaf for leaf in tree_leaves(nested) if isinstance(leaf, torch.Tensor)]
        assert [id(tensor) for tensor in tensors_in(nested)] == [id(leaf) for leaf in expected]


def test_the_clock_is_asked_and_its_origin_is_the_steps_start():
    step = _taken(SMALL["linear-stack"], "default", adamw("fused"))
    ticks = iter(range(100, 1_000_000))
    recording = _record(step, lambda *_: float(next(ticks)))
    times = [ms for ms, _, _ in recording.recorder.log]
    assert times == sorted(times)
    assert 0 < times[0] < 30
    with contextlib.suppress(StopIteration):
        assert recording.recorder.end > times[-1]
    assert list(recording.recorder.phases) == list(contract.PHASES)
    assert gpus.DEFAULT.name == "a100-80gb"
