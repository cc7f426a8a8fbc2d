"""Train with gradients that never coexist: the walk through the network happens inside optimizer.step().

loss.backward() computes every gradient before optimizer.step() uses one, so for a moment all of them are in memory. Yet an
update reads only its own parameter's gradient. So BackProp cuts the model's output from the loss: loss.backward() walks
from the loss to the output and stops; optimizer.step() walks the network, and each gradient updates its parameter and is
freed as it lands. Peak memory falls by up to (all gradients - the largest one); the results are the same to the last bit.

    model, optimizer = BackProp(model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True))
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        loss.backward()        # walks loss -> output
        optimizer.step()       # walks the network: each gradient updates its parameter, then is freed
        optimizer.zero_grad()

Model and optimizer stay the same objects: checkpoints, LR schedulers, GradScaler, step hooks and micro-batches work as
before. What changes is when gradients can be seen. Between backward() and step(),

    instead of                                           write
    ---------------------------------------------------  ----------------------------------------------------------
    torch.nn.utils.clip_grad_norm_(parameters, c)        optimizer.clip_grad_norm_(c)      (walks the network once more)
    torch.nn.utils.clip_grad_value_(parameters, c)       optimizer.clip_grad_value_(c)
    p.grad = None, to drop the batch                     optimizer.zero_grad() or model.zero_grad()
    reading or changing p.grad                           p.register_hook(...), called with each gradient as it is made
    x.grad, torch.autograd.grad(output, x), penalties    `with optimizer.paused():` around forward and backward: in it the
    on gradients, backward(create_graph=True)            model is not cut, and gradients gather in p.grad as usual
    a second plain optimizer for other parameters        step it after this one, whose step() computes its gradients
    leaving out zero_grad(), to add up over steps        call step() once for all: after step() no gradient is left

Limits. Micro-batches but the last fill p.grad as usual: gradients that add up must coexist. Where activations set the peak,
nothing is saved. A foreach optimizer holds temporaries as large as what it updates at once, a fused one none. Refused, with
the reason: DataParallel, DDP, FSDP1 (use fully_shard), LBFGS, optimizers whose update of one parameter reads another's
gradient. Copies of the model (deepcopy, pickle, AveragedModel) are plain models.

To measure a 12-layer linear stack both ways, run this file: python backprop.py [timeline_output_dir]

Sources: https://lightning.ai/blog/faster-pytorch-training-by-reducing-peak-memory (the update inside the backward walk),
https://gist.github.com/albanD/18c240bd2e09f9d93f5c4a0c9ccda39e (an optimizer per parameter, stepped by the gradient's hook),
https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html; LOMO, arXiv 2306.09782.
"""

import contextlib
import copy
import copyreg
import dataclasses
import functools
import inspect
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils._pytree import tree_map

Model = TypeVar("Model", bound=torch.nn.Module)
Parameters = list[torch.nn.Parameter]

_LARGEST_BUCKET = 32 * 2**20  # bytes; more would pile up under live activations and gain no speed
_live: "weakref.WeakSet[BackProp]" = weakref.WeakSet()


class BackProp(torch.optim.Optimizer):
    """Moves the backward walk through `model` into `optimizer.step()`.

    `BackProp(model, optimizer)` returns `(model, optimizer)`, the same two objects. The model's outputs are cut from their
    graph while gradients are enabled. The optimizer becomes an instance of BackProp and of its own class, with its settings
    and state as they are; its step() walks the network and hands each landed gradient to its class's step().

    Args:
        model: any module; its output may nest tensors in tuples, lists, dicts, dataclasses or registered pytrees.
        optimizer: an optimizer over parameters of `model`, and of others if you like (the loss's own).
        bucket_bytes: update once this many bytes of gradients have landed; 0 updates one by one. By default the size of the
            largest parameter, at most 32 MiB.

    Raises:
        TypeError: a kind of model or optimizer that cannot work so; the text says what to use instead.
        ValueError: one of the two was given to BackProp before, or the optimizer has no parameter of the model.
    """

    _step_supports_amp_scaling = False  # GradScaler must unscale through param_groups below, for fused optimizers too

    def __new__(  # pyright: ignore[reportInconsistentConstructor]
        cls, model: Model, optimizer: torch.optim.Optimizer, *, bucket_bytes: int | None = None
    ) -> "tuple[Model, BackProp]":
        _refuse_model(model, optimizer)
        _refuse_optimizer(optimizer)
        plain = type(optimizer)
        optimizer.__class__ = type(plain.__name__, (cls, plain), {"__module__": plain.__module__})
        assert isinstance(optimizer, BackProp)
        optimizer._undo = contextlib.ExitStack()
        optimizer._undo.callback(setattr, optimizer, "__class__", plain)
        try:
            optimizer._wrap(model, plain, bucket_bytes)
        except BaseException:
            optimizer._undo.close()
            raise
        return model, optimizer

    def _wrap(self, model: torch.nn.Module, plain: type[torch.optim.Optimizer], bucket_bytes: int | None) -> None:
        self._plain, self._bucket_bytes = plain, bucket_bytes
        self._pending: dict[_Cut, None] = {}  # cuts whose gradient has landed, in order of landing
        self._cuts: weakref.WeakSet[_Cut] = weakref.WeakSet()  # all that a loss may still reach
        self._visit: Callable[[torch.nn.Parameter], None] | None = None  # what a walk does with a landed gradient
        self._adjustments: list[Callable[[Parameters], Any]] = []  # clipping and unscaling of p.grad, still to be done
        self._updated: set[int] = set()  # ids of the parameters updated since zero_grad(), and of those whose gradient
        self._zeroed: set[int] = set()  # zero_grad(set_to_none=False) left at zero, where the plain loop keeps one
        self._paused = self._warned = False
        if step := vars(self).pop("step", None):  # a scheduler that was made first has put its own here
            self._undo.callback(setattr, self, "step", step)
        self._arm(self._parameters())
        model.zero_grad = _ModelZeroGrad(model, self)
        self._undo.callback(delattr, model, "zero_grad")
        before, after = _ModuleHook(model, self._before_forward), _ModuleHook(model, self._after_forward)
        self._undo.callback(model.register_forward_pre_hook(before).remove)
        self._undo.callback(model.register_forward_hook(after).remove)
        _live.add(self)
        self._undo.callback(_live.discard, self)

    def _arm(self, parameters: Parameters) -> None:
        landed = weakref.WeakMethod(self._landed)  # a strong one would tie the parameter to its optimizer for good

        def hook(parameter: torch.nn.Parameter) -> None:
            if (method := landed()) is not None:
                method(parameter)

        for parameter in parameters:
            trains = parameter.requires_grad
            parameter.requires_grad_(True)  # a frozen one takes no hook, and may be unfrozen later
            self._undo.callback(parameter.register_post_accumulate_grad_hook(hook).remove)
            parameter.requires_grad_(trains)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return copyreg.__newobj__, (self._plain,), self.__getstate__()  # type: ignore[attr-defined]  # a copy is plain

    @property
    def param_groups(self) -> list[dict[str, Any]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As in torch.optim. While gradients are still to come, GradScaler is shown a witness of them."""
        if self._pending and sys._getframe(1).f_code.co_name == "_unscale_grads_":
            return self._groups_to_unscale()
        return vars(self)["param_groups"]

    @param_groups.setter
    def param_groups(self, groups: list[dict[str, Any]]) -> None:
        vars(self)["param_groups"] = groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """As in torch.optim; the new parameters are updated inside step() like the others."""
        super().add_param_group(param_group)
        self._arm(self.param_groups[-1]["params"])

    @torch.optim.Optimizer.profile_hook_step  # step hooks and the profiler's range, once a step
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Walks the network; each gradient updates its parameter, then is freed.

        Gradients that are in p.grad already (earlier micro-batches, a penalty on the weights) are added in; each parameter
        is updated once. Returns the result of `closure`, which is called once, before the walk.

        Raises:
            RuntimeError: the graph cannot be walked, or a parameter's gradient lands in two parts.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._opt_called = True  # what a scheduler that was made first looks for
        self._bring_pending_here()
        update = _Update(self, self._plain, self._bucket_bytes, self._adjustments)
        try:
            self._walk(update.landed)
            for parameter in (p for p in self._parameters() if id(p) not in update.done):
                if parameter.grad is None and id(parameter) in self._zeroed:
                    parameter.grad = torch.zeros_like(parameter)
                if parameter.grad is not None:
                    update.landed(parameter)
            update.finish()
        finally:
            self._adjustments.clear()
        self._updated = update.done
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops every gradient, also those that loss.backward() has left for step() to compute.

        With `set_to_none=False`, a parameter that gets no gradient later is updated with zeros, as in the plain loop.
        """
        self._bring_pending_here()
        upstream_waits = any(self._leads_to(other) for other in _live if other is not self and other._awaits_gradients())
        if upstream_waits or not set_to_none:
            self._accumulate()  # models upstream want what passes through this one; zeros stay where a gradient was
        with_gradient = {id(p) for p in self._parameters() if p.grad is not None}
        self._zeroed = set() if set_to_none else self._zeroed | self._updated | with_gradient
        self._updated = self._updated & self._zeroed
        self._pending.clear()
        self._adjustments.clear()
        for parameter in self._parameters():
            parameter.grad = None

    def clip_grad_norm_(
        self, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
    ) -> torch.Tensor:
        """Clips the norm of all gradients taken as one vector at the next step(), as torch.nn.utils.clip_grad_norm_ does.

        A first walk measures each gradient and frees it; step() walks again and scales. Returns the norm before clipping,
        a scalar tensor. Raises RuntimeError if it is not finite and `error_if_nonfinite` is set.
        """
        norms: dict[int, torch.Tensor] = {}

        def measure(parameter: torch.nn.Parameter) -> None:
            norms[id(parameter)] = torch.linalg.vector_norm(_gradient(parameter), norm_type)

        self._examine(measure)
        ordered = [norms[id(p)] for p in self._parameters() if id(p) in norms]  # summed in torch's order
        if not ordered:
            return torch.tensor(0.0)
        total = torch.linalg.vector_norm(torch.stack([norm.to(ordered[0].device) for norm in ordered]), norm_type)
        if error_if_nonfinite and not total.isfinite():
            raise RuntimeError(
                f"the gradients' norm of order {norm_type} is {total.item()}, so they cannot be clipped; drop the batch with "
                "optimizer.zero_grad(), or pass error_if_nonfinite=False"
            )
        clip = torch.nn.utils.clip_grads_with_norm_
        self._adjustments.append(lambda parameters: clip(parameters, max_norm, total))
        return total

    def clip_grad_value_(self, clip_value: float) -> None:
        """Clamps each gradient's elements to [-clip_value, clip_value] at the next step(); costs no extra walk."""
        self._adjustments.append(lambda parameters: torch.nn.utils.clip_grad_value_(parameters, clip_value))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """A block in which the model is not cut: backward() walks all of it, and gradients gather in p.grad."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def remove(self) -> None:
        """Makes model and optimizer plain again. Gradients still to come are computed now, into p.grad."""
        self._accumulate()
        self._undo.close()

    # -- the cut: before, during and after the model's forward

    def _before_forward(self, model: torch.nn.Module, args: Any) -> None:
        if torch.is_grad_enabled() and not self._paused and self._visit is None:
            self._accumulate()  # so that only one micro-batch's activations are alive at a time

    @torch.compiler.disable  # compiling the whole model would trace its hooks
    def _after_forward(self, model: torch.nn.Module, args: Any, output: Any) -> Any:
        return _map_tensors(self._cut, output) if torch.is_grad_enabled() and not self._paused else None

    def _cut(self, output: torch.Tensor) -> torch.Tensor:
        if not output.requires_grad:
            return output
        if not self._warned and _returns_all_gradients_at_once(output, self._parameters()):
            self._warned = True
            warnings.warn(_COMPILED_WHOLE, stacklevel=2)
        cut = _Cut(self, output)
        self._cuts.add(cut)
        return _LossSide.apply(_ANCHOR, output.detach(), cut)

    # -- the walk

    def _parameters(self) -> Parameters:
        return [parameter for group in vars(self)["param_groups"] for parameter in group["params"]]

    def _landed(self, parameter: torch.nn.Parameter) -> None:
        if self._visit is not None:  # else it comes from outside a walk, and waits in p.grad for step()
            self._visit(parameter)

    def _walk(self, visit: Any, keep: bool = False, inputs: Parameters | None = None) -> None:
        """One joint walk over all pending outputs, so that each parameter's gradient lands once."""
        cuts = list(self._pending)
        if not cuts:
            return
        if not keep:
            self._pending.clear()
        for cut in cuts:
            cut.keep = keep
        self._visit = visit
        try:
            with cuts[0].autocast():
                torch.autograd.backward([cut.stub for cut in cuts], retain_graph=keep, inputs=inputs)
        except RuntimeError as error:
            explanation = next((text for sign, text in _EXPLANATIONS.items() if sign in str(error)), None)
            if explanation is None:
                raise
            raise RuntimeError(f"{error}\n{explanation}") from error
        finally:
            self._visit = None

    def _accumulate(self) -> None:
        """Walks what is pending and leaves the gradients in p.grad, adjusted."""
        if self._pending:
            self._walk(None)
            with_gradient = [p for p in self._parameters() if p.grad is not None]
            for adjust in self._adjustments:
                adjust(with_gradient)
            self._adjustments.clear()

    def _examine(self, visit: Callable[[torch.nn.Parameter], None]) -> None:
        """Calls `visit(p)` once for each parameter, with p.grad as step() will see it; keeps none, changes nothing."""
        self._bring_pending_here()
        parameters = self._parameters()
        earlier = {p: p.grad for p in parameters if p.grad is not None}
        seen = set()

        def show(parameter: torch.nn.Parameter) -> None:
            if parameter in seen:
                raise RuntimeError(_LANDED_TWICE)
            seen.add(parameter)
            if parameter in earlier:
                added = earlier[parameter].clone()
                parameter.grad = added if parameter.grad is None else added + parameter.grad
            for adjust in self._adjustments:
                adjust([parameter])
            visit(parameter)
            parameter.grad = None

        try:
            for parameter in earlier:
                parameter.grad = None
            # Only these may land, or others (inputs, another optimizer's parameters) would get their gradient twice. What
            # fully_shard trains stands for leaves of its own, which cannot be named here.
            sharded = any(hasattr(p, "_local_tensor") for p in parameters)
            inputs = [p for p in parameters if p.requires_grad and id(p) in {id(q) for q in parameters}]
            with torch.no_grad():
                self._walk(show, keep=True, inputs=None if sharded else inputs)
                for parameter in earlier.keys() - seen:
                    show(parameter)
        finally:
            for parameter, gradient in earlier.items():
                parameter.grad = gradient

    def _groups_to_unscale(self) -> list[dict[str, Any]]:
        """One parameter whose gradient is 1, or inf if any gradient to come isn't finite.

        GradScaler multiplies it by 1/scale like any other, so it becomes the factor for the real ones.
        """
        if any(parameter.grad is not None for parameter in self._parameters()):
            self._accumulate()  # they coexist already
            return vars(self)["param_groups"]
        finite, kinds = [], set()

        def check(parameter: torch.nn.Parameter) -> None:
            finite.append(_gradient(parameter).isfinite().all())
            kinds.add(_gradient(parameter).dtype)

        def unscale(parameters: Parameters) -> None:
            for parameter in parameters:
                _gradient(parameter).mul_(_gradient(witness).to(_gradient(parameter).device))

        self._examine(check)
        all_finite = all(bool(one) for one in finite)
        half = torch.float16 in kinds  # GradScaler refuses to unscale these, as in the plain loop
        witness = torch.nn.Parameter(torch.zeros((), dtype=torch.float16 if half else torch.float32))
        witness.grad = torch.full_like(witness, 1.0 if all_finite else torch.inf)
        self._adjustments.append(unscale)
        return [{"params": [witness]}] if finite else []

    # -- chained models: what one returns, another takes

    def _awaits_gradients(self) -> bool:
        return any(not cut.landed for cut in self._cuts)

    def _bring_pending_here(self) -> None:
        """Walks the wrapped models downstream, without updates, until their gradients have reached this one."""
        while self._awaits_gradients():
            other = next((o for o in _live if o is not self and o._leads_to(self)), None)
            if other is None:
                return
            other._accumulate()

    def _leads_to(self, other: "BackProp") -> bool:
        nodes, seen = [cut.stub.grad_fn for cut in self._pending], set()
        while nodes:
            node = nodes.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            cut = getattr(node, "cut", None)
            if isinstance(cut, _Cut):  # the loss side of a model between the two
                if cut.owner() is other:
                    return True
                nodes.append(cut.stub.grad_fn)
            nodes.extend(following for following, _ in node.next_functions)
        return False


class _Cut:
    """Where one output was cut: the gradient that the loss side leaves, and the way on into the network.

    It lives in the loss side's graph, so an output that is thrown away takes its graph with it. It holds no output either,
    only the network's graph by a scalar stub.
    """

    def __init__(self, owner: BackProp, output: torch.Tensor) -> None:
        self.owner = weakref.ref(owner)
        self.gradient: torch.Tensor | None = None
        self.landed = self.keep = False
        self.autocast: Callable[[], Any] = contextlib.nullcontext
        self.stub: torch.Tensor = _NetworkSide.apply(output, weakref.ref(self))

    def land(self, gradient: torch.Tensor) -> None:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "backward(create_graph=True) would stop where BackProp cuts the model's output; run forward and backward "
                "inside `with optimizer.paused():`"
            )
        self.landed = True
        self.gradient = gradient if self.gradient is None else self.gradient + gradient
        kind = gradient.device.type
        if torch.amp.is_autocast_available(kind):  # the walk runs as it would have inside backward()
            enabled, dtype = torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
            self.autocast = functools.partial(torch.autocast, kind, enabled=enabled, dtype=dtype)
        if (owner := self.owner()) is not None:
            owner._pending[self] = None

    def take(self) -> torch.Tensor | None:
        gradient = self.gradient
        if not self.keep:
            self.gradient = None  # the walk frees it as soon as it is used
        return gradient


class _LossSide(torch.autograd.Function):
    """The identity; its backward keeps the gradient for step() and goes no further."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, output: torch.Tensor, cut: _Cut) -> torch.Tensor:
        ctx.cut = cut
        return output.detach()  # not a view in autograd's eyes, so it may be modified in place like any output

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        ctx.cut.land(gradients[0])
        return None, None, None


class _NetworkSide(torch.autograd.Function):
    """A scalar made of nothing, whose backward sends the kept gradient into the network."""

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor, reference: "weakref.ref[_Cut]") -> torch.Tensor:
        ctx.reference = reference
        return torch.zeros((), device=output.device)

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> Any:
        cut = ctx.reference()
        return None if cut is None else cut.take(), None


_ANCHOR = torch.zeros((), requires_grad=True)  # makes what _LossSide returns require a gradient; never gets one itself


def _map_tensors(function: Callable[[torch.Tensor], torch.Tensor], output: Any) -> Any:
    def leaf(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return function(value)
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return value
        twin = copy.copy(value)
        for name in (field.name for field in dataclasses.fields(value) if hasattr(value, field.name)):
            object.__setattr__(twin, name, _map_tensors(function, getattr(value, name)))
        return twin

    return tree_map(leaf, output)


def _gradient(parameter: torch.nn.Parameter) -> torch.Tensor:
    assert parameter.grad is not None
    return parameter.grad


class _Update:
    """One step of an optimizer, taken in buckets as gradients land.

    A bucket narrows param_groups to its parameters for one call of the optimizer's own step(). Each call starts from the
    settings of the step's start, so that a scalar kept in a group (a step count, a sum of weights) advances once a step.
    """

    def __init__(self, optimizer: Any, plain: type, capacity: int | None, adjustments: list[Any]) -> None:
        self.optimizer, self.adjustments = optimizer, adjustments
        self.take_step = plain.step
        if getattr(self.take_step, "hooked", False):
            self.take_step = self.take_step.__wrapped__  # without the step hooks, which fire once in BackProp.step
        self.groups = optimizer.param_groups
        self.settings = [{k: v for k, v in group.items() if k != "params"} for group in self.groups]
        self.after: dict[int, dict[str, Any]] = {}
        self.group_of = {id(p): index for index, group in enumerate(self.groups) for p in group["params"]}
        largest = max((p.numel() * p.element_size() for group in self.groups for p in group["params"]), default=0)
        self.capacity = min(largest, _LARGEST_BUCKET) if capacity is None else capacity
        self.bucket: Parameters = []
        self.bytes = 0
        self.done: set[int] = set()

    def landed(self, parameter: torch.nn.Parameter) -> None:
        if id(parameter) not in self.group_of:
            return  # taken out of the optimizer since
        if id(parameter) in self.done:
            raise RuntimeError(_LANDED_TWICE)
        self.done.add(id(parameter))
        size = _gradient(parameter).numel() * _gradient(parameter).element_size()
        if self.bytes + size > self.capacity:
            self.flush()
        self.bucket.append(parameter)
        self.bytes += size
        if self.bytes >= self.capacity:
            self.flush()

    def flush(self) -> None:
        if not self.bucket:
            return
        narrowed: dict[int, Parameters] = {}
        for parameter in self.bucket:
            narrowed.setdefault(self.group_of[id(parameter)], []).append(parameter)
        for adjust in self.adjustments:
            adjust(self.bucket)
        self.call(narrowed)
        for parameter in self.bucket:
            parameter.grad = None
        self.bucket, self.bytes = [], 0

    def call(self, parameters: dict[int, Parameters]) -> None:
        groups = {index: {**self.settings[index], "params": chosen} for index, chosen in parameters.items()}
        self.optimizer.param_groups = list(groups.values())
        try:
            with torch.no_grad():
                self.take_step(self.optimizer)
        finally:
            self.optimizer.param_groups = self.groups
        self.after.update(groups)

    def finish(self) -> None:
        self.flush()
        untouched = {index: group["params"] for index, group in enumerate(self.groups) if index not in self.after}
        if untouched:  # without gradients nothing moves, but an optimizer may count the step
            self.call(untouched)
        for index, after in self.after.items():
            changed = {k: v for k, v in after.items() if k != "params" and v is not self.settings[index].get(k, self)}
            self.groups[index].update(changed)


class _ModuleHook:
    """Calls `method` for `model` while both are alive; in a copy of the model it does nothing."""

    inert = contextlib.nullcontext().__exit__  # takes anything, returns None, and unpickles without this file

    def __init__(self, model: torch.nn.Module, method: Callable[..., Any]) -> None:
        self.model, self.method = weakref.ref(model), weakref.WeakMethod(method)

    def __call__(self, model: torch.nn.Module, *args: Any) -> Any:
        method = self.method()
        return method(model, *args) if method is not None and self.model() is model else None

    def __deepcopy__(self, memo: Any) -> Any:
        return self.inert

    def __reduce__(self) -> Any:
        return self.inert.__reduce__()


class _ModelZeroGrad:
    """model.zero_grad(), which also drops what is pending; a copy of the model gets its class's own."""

    def __init__(self, model: torch.nn.Module, optimizer: BackProp) -> None:
        self.model, self.optimizer = weakref.ref(model), weakref.ref(optimizer)

    def __call__(self, set_to_none: bool = True) -> None:
        model, optimizer = self.model(), self.optimizer()
        if optimizer is not None:
            optimizer.zero_grad(set_to_none)
        type(model).zero_grad(model, set_to_none)  # type: ignore[union-attr]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo[id(self.model())].zero_grad

    def __reduce__(self) -> Any:
        return getattr, (self.model(), "zero_grad")


# -- refusals: what cannot be exact, or would save nothing

_LANDED_TWICE = (
    "a parameter's gradient landed twice in one walk, so its update would use only a part of it; a layer shared between "
    "reentrant checkpoints does this: use torch.utils.checkpoint(..., use_reentrant=False)"
)
_COMPILED_WHOLE = (
    "the whole model is compiled as one graph, which returns all gradients at once, so BackProp saves no memory; compile "
    "its blocks one by one instead: `for block in model.blocks: block.compile()`"
)
_EXPLANATIONS = {
    "modified by an inplace operation": "BackProp walks the network inside optimizer.step(): a weight or activation that "
    "the walk still needed was changed in place since forward, either by your code (do it after optimizer.step()) or by the "
    "weight's own update, when the network also uses it detached (train that loss inside `with optimizer.paused():`)",
    "backward through the graph a second time": "BackProp walks each forward's graph once, in optimizer.step() or before "
    "the next forward; call backward() for all losses on an output before those, or use `with optimizer.paused():`",
}
_WRAPPERS = {
    torch.nn.DataParallel: "one process per GPU with torch.distributed.fsdp.fully_shard",
    torch.nn.parallel.DistributedDataParallel: "torch.distributed.fsdp.fully_shard, before BackProp",
}
_TRIAL_STEPS = 12  # by then Prodigy's and D-Adaptation's shared step size has left its first value


def _refuse_model(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"BackProp takes a torch.nn.Module and an optimizer, not a {type(model).__name__} first")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"BackProp takes a torch.optim.Optimizer second, not a {type(optimizer).__name__}")
    fsdp = getattr(sys.modules.get("torch.distributed.fsdp"), "FullyShardedDataParallel", None)
    wrappers = {**_WRAPPERS, **({fsdp: "torch.distributed.fsdp.fully_shard instead of FSDP1"} if fsdp else {})}
    for module in model.modules():
        for wrapper, instead in wrappers.items():
            if isinstance(module, wrapper):
                raise TypeError(
                    f"{wrapper.__name__} collects all gradients during backward(), so BackProp cannot free them one by one; "
                    f"use {instead}"
                )
    given = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if isinstance(optimizer, BackProp) or any(given & {id(p) for p in other._parameters()} for other in _live):
        raise ValueError("these parameters were given to BackProp before; call remove() on that optimizer first")
    if isinstance(vars(model).get("zero_grad"), _ModelZeroGrad) and vars(model)["zero_grad"].optimizer() is not None:
        raise ValueError(
            "this model was given to BackProp before; put all its parameters into one optimizer (as groups), or step a "
            "second, plain optimizer after this one"
        )
    if not given & {id(p) for p in model.parameters()}:
        raise ValueError("the optimizer has no parameter of this model; build it from model.parameters()")


def _refuse_optimizer(optimizer: torch.optim.Optimizer) -> None:
    """Tries the optimizer on two small tensors: updates in pieces must equal one update of both."""
    name = type(optimizer).__name__
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise TypeError(
            f"{name} evaluates the loss several times in one step, each time with all gradients, so BackProp cannot free "
            "them one by one; use an optimizer whose step() needs no closure, or leave this one unwrapped"
        )
    tried: set[str] = set()
    for group in optimizer.param_groups:
        kind = repr(sorted((k, v) for k, v in group.items() if isinstance(v, bool | str)))  # groups may differ by flags
        real = group["params"][0] if group["params"] else None
        if kind in tried or real is None or real.is_meta or type(real).__name__ == "FakeTensor":
            continue
        tried.add(kind)
        outcome = _trial(optimizer, group, real)
        if isinstance(outcome, Exception):
            raise TypeError(
                f"BackProp tried {name} on two small tensors, to see whether it can update one at a time, and its step() "
                f"failed: {type(outcome).__name__}: {outcome}; use another optimizer, or leave this one unwrapped"
            ) from outcome
        if not outcome:
            raise TypeError(
                f"{name} updates one parameter differently when it sees another's gradient (found by trying it on two small "
                "tensors), so updating them one at a time would not be exact; use an optimizer that treats each parameter by "
                "itself, or leave this one unwrapped"
            )


def _trial(optimizer: torch.optim.Optimizer, group: dict[str, Any], real: torch.nn.Parameter) -> bool | Exception:
    """Whether updates of two small tensors in pieces equal updates of both; if none can be made, why."""
    on = {"device": real.device, "dtype": real.dtype}
    failure = None
    for shape, sparse in (((4, 4), False), ((16,), False), ((4, 4), True)):
        try:
            outcomes = []
            for capacity in (sys.maxsize, 0):
                tensors = [torch.nn.Parameter(torch.arange(16.0).sin().to(**on).reshape(shape)) for _ in range(2)]
                twin = _twin(optimizer, group, tensors)
                cuda = [real.device] if real.is_cuda else []
                with torch.random.fork_rng(devices=cuda), warnings.catch_warnings(), torch.enable_grad():
                    warnings.simplefilter("ignore")
                    torch.manual_seed(0)
                    for step in range(_TRIAL_STEPS):
                        update = _Update(twin, type(optimizer), capacity, [])
                        for scale, tensor in zip((1, 30), tensors, strict=True):
                            gradient = (scale * torch.arange(16.0).add(step).cos()).to(**on).reshape(shape)
                            tensor.grad = gradient.to_sparse() if sparse else gradient
                            update.landed(tensor)
                        update.finish()
                outcomes.append(torch.cat([tensor.detach().flatten() for tensor in tensors]))
            return torch.equal(*outcomes)
        except Exception as error:  # the next shape may suit it
            failure = failure or error
    assert failure is not None
    return failure


def _twin(optimizer: torch.optim.Optimizer, group: dict[str, Any], tensors: Parameters) -> torch.optim.Optimizer:
    accepted = inspect.signature(type(optimizer).__init__).parameters
    settings = {k: v for k, v in group.items() if k in accepted and k != "params"}
    if "lr" in settings and not float(settings["lr"]):  # a warm-up starts at 0, where all updates look alike
        settings["lr"] = 0.01
    twin = type(optimizer)(tensors, **settings)
    getattr(twin, "train", lambda: None)()  # schedule-free optimizers
    return twin


def _returns_all_gradients_at_once(output: torch.Tensor, parameters: Parameters) -> bool:
    node = output.grad_fn
    if node is None or "CompiledFunction" not in type(node).__name__:
        return False
    direct = {id(following.variable) for following, _ in node.next_functions if hasattr(following, "variable")}  # type: ignore
    return direct >= {id(p) for p in parameters if p.requires_grad}


if __name__ == "__main__":
    try:
        from timelines.headline import main
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("timelines"):
            raise
        sys.exit("backprop.py measures with the folders timelines/ and workloads/ beside it; copy those too, or only import it")
    main()
