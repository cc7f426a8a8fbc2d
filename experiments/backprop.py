"""Train with gradients that never coexist: the walk through the network happens inside optimizer.step().

loss.backward() computes every gradient before optimizer.step() uses one, so for a moment all of them are in memory.
Yet an update reads only its own parameter's gradient. So BackProp cuts the model's output from the loss:
loss.backward() walks from the loss to the output and stops; optimizer.step() walks the network, and each gradient
updates its parameter and is freed as it lands. Peak memory falls by up to (all gradients - the largest one); the
results are the same to the last bit.

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
    x.grad, torch.autograd.grad(output, x), penalties    `with optimizer.paused():` around forward and backward: in it
    on gradients, backward(create_graph=True)            the model is not cut, and gradients gather in p.grad as usual
    reading or dropping gradients that the plain         do it after this one's step(), which computes them; its own
    optimizer of a model upstream waits for              step() brings them too, but then this one's coexist
    leaving out zero_grad(), to add up over steps        call step() once for all: after step() no gradient is left

Limits. Micro-batches but the last fill p.grad as usual: gradients that add up must coexist. Where activations set the
peak, nothing is saved. A foreach optimizer holds temporaries as large as what it updates at once, a fused one none.
Refused, with the reason: DataParallel, DDP, FSDP1 (use fully_shard), LBFGS, optimizers whose update of one parameter
reads another's gradient. Copies of the model (deepcopy, pickle, AveragedModel) are plain models.

To measure a 12-layer linear stack both ways, run this file: python backprop.py [timeline_output_dir]

Sources: https://lightning.ai/blog/faster-pytorch-training-by-reducing-peak-memory (the update inside the backward
walk), https://gist.github.com/albanD/18c240bd2e09f9d93f5c4a0c9ccda39e (an optimizer per parameter, stepped by the
gradient's hook), https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html; LOMO, arXiv
2306.09782.
"""

import contextlib
import copy
import copyreg
import dataclasses
import functools
import inspect
import itertools
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch
from torch.autograd.function import BackwardCFunction
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils._pytree import tree_map

Model = TypeVar("Model", bound=torch.nn.Module)
Parameters = list[Any]  # of torch.nn.Parameter, most often with a gradient
Visit = Callable[[Any], Any]  # what a walk does with a parameter whose gradient has landed

# Bytes of a bucket. What waits in it may come on top of the peak, so it is kept below a hundredth of parameters and
# state; smaller ones than these would call the optimizer more often and gain nothing to speak of.
_SMALLEST_BUCKET, _LARGEST_BUCKET = 2 * 2**20, 32 * 2**20
_live: "weakref.WeakSet[BackProp]" = weakref.WeakSet()
_calls = itertools.count()  # numbers the forward calls: one can only take what earlier ones returned


class BackProp(torch.optim.Optimizer):
    """Moves the backward walk through `model` into `optimizer.step()`.

    `BackProp(model, optimizer)` returns `(model, optimizer)`, the same two objects. The model's outputs are cut from
    their graph while gradients are enabled. The optimizer becomes an instance of BackProp and of its own class, with
    its settings and state; its step() walks the network and hands each landed gradient to its class's step().

    Args:
        model: any module; its output may nest tensors in tuples, lists, dicts, dataclasses or registered pytrees.
        optimizer: an optimizer over parameters of `model`, and of others if you like (the loss's own).
        bucket_bytes: update once this many bytes of gradients have landed; 0 updates one by one. By default a
            sixty-fourth of all, at least 2 and at most 32 MiB, so smaller models are updated in one go, at no saving.

    Raises:
        TypeError: a kind of model or optimizer that cannot work so; the text says what to use instead.
        ValueError: one of the two was given to BackProp before, or the optimizer has no parameter of the model.
    """

    _undo: contextlib.ExitStack
    _step_supports_amp_scaling = False  # GradScaler must unscale through param_groups below, for fused optimizers too

    def __new__(  # noqa: D102  # pyright: ignore[reportInconsistentConstructor]  # documented above; it makes no BackProp
        cls, model: Model, optimizer: torch.optim.Optimizer, *, bucket_bytes: int | None = None
    ) -> "tuple[Model, BackProp]":
        _refuse_model(model, optimizer)
        _refuse_optimizer(optimizer)
        plain = type(optimizer)
        optimizer.__class__ = type(plain.__name__, (cls, plain), {"__module__": plain.__module__})
        assert isinstance(optimizer, BackProp)
        with contextlib.ExitStack() as undo:  # if anything fails half-way
            undo.callback(setattr, optimizer, "__class__", plain)
            optimizer._wrap(model, plain, bucket_bytes, undo)
            optimizer._undo = undo.pop_all()
        return model, optimizer

    def _wrap(self, model: torch.nn.Module, plain: type, bucket_bytes: int | None, undo: contextlib.ExitStack) -> None:
        self._model, self._plain, self._bucket_bytes = weakref.ref(model), plain, bucket_bytes
        self._cuts: weakref.WeakSet[_Cut] = weakref.WeakSet()  # not walked yet, and in reach of a loss
        self._pending: dict[_Cut, None] = {}  # those of them whose gradient has landed, in order of landing
        self._visit: Visit | None = None  # set during a walk
        self._adjustments: list[Callable[[Parameters], Any]] = []  # clipping and unscaling of p.grad, still to be done
        self._updated: set[int] = set()  # ids of the parameters that the last step() updated
        self._zeroed: set[int] = set()  # and of those whose gradient zero_grad(set_to_none=False) has left at zero
        self._uncut = 0  # gradients that landed outside a walk since the last step()
        self._paused = self._warned = False
        if step := self.__dict__.pop("step", None):  # a scheduler that was made first has put its own here
            undo.callback(setattr, self, "step", step)
        # By id, since a parameter's own hash is a call of Python: the parameter, so that its id stays its own, our
        # hook's handle, and all of its hooks.
        self._handles: dict[int, tuple[Any, Any, Any]] = {}
        undo.callback(lambda handles: [handle.remove() for _, handle, _ in handles.values()], self._handles)
        self._places: _Places | None = None
        self._arm()
        undo.callback(model.register_forward_pre_hook(_ModelHook(model, self._before_forward), prepend=True).remove)
        after = _ModelHook(model, self._after_forward)  # pyright: ignore  # torch's decorator loses a method's type
        undo.callback(model.register_forward_hook(after).remove)
        model.zero_grad = _ModelHook(model, self._zero_grad_of_model, "zero_grad")
        undo.callback(delattr, model, "zero_grad")
        _live.add(self)
        undo.callback(_live.discard, self)

    def _arm(self) -> None:
        """Hooks each parameter that trains, after all hooks of the user's: ours frees the gradient."""
        this = weakref.ref(self)  # a strong one would tie the parameter to its optimizer for good

        def landed(parameter: Any) -> None:
            if (optimizer := this()) is not None:
                (optimizer._visit or optimizer._landed_outside)(parameter)

        for parameter in self._parameters():
            known = self._handles.get(id(parameter))
            if (known is None or len(known[2]) > 1) and parameter.requires_grad:
                if known is not None:
                    known[1].remove()
                handle = parameter.register_post_accumulate_grad_hook(landed)
                self._handles[id(parameter)] = parameter, handle, parameter._post_accumulate_grad_hooks

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy is an optimizer of the plain class."""
        rebuild = copyreg._reconstructor  # type: ignore[attr-defined]  # the stubs leave it out
        return rebuild, (self._plain, object, None), self.__getstate__()

    @property
    def param_groups(self) -> list[dict[str, Any]]:  # pyright: ignore  # a plain attribute in torch
        """As in torch.optim. While gradients are still to come, GradScaler is shown a witness of them."""
        if sys._getframe(1).f_code.co_name == "_unscale_grads_":
            _bring_gradients(self)
            if self._pending:
                return self._groups_to_unscale()
        return vars(self)["param_groups"]

    @param_groups.setter
    def param_groups(self, groups: list[dict[str, Any]]) -> None:  # pyright: ignore  # as above
        self.__dict__["param_groups"] = groups

    @torch.optim.Optimizer.profile_hook_step  # step hooks and the profiler's range, once a step
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Walks the network; each gradient updates its parameter, then is freed.

        Gradients that are in p.grad already (earlier micro-batches, a penalty on the weights) are added in; each
        parameter is updated once. Returns the result of `closure`, which is called once, before the walk.

        Raises:
            RuntimeError: the graph cannot be walked, or a parameter's gradient lands in two parts.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._opt_called = True  # what schedulers look for
        _bring_gradients(self)
        if not self._pending and 2 * self._uncut > len(self._handles):
            self._warn(_AROUND_THE_CUT)
        update = _Update(self, self._plain, self._bucket_bytes, self._adjustments)
        try:
            self._walk(update.landed)
            waiting = self._parameters() if update.waiting else []
            for parameter in [parameter for parameter in waiting if id(parameter) in update.waiting]:
                # The plain loop updates with zeros what zero_grad(set_to_none=False) has left.
                if parameter.grad is None and id(parameter) in self._zeroed:
                    parameter.grad = torch.zeros_like(parameter)
                if parameter.grad is not None:
                    update.landed(parameter)
            update.finish()
        finally:
            self._adjustments.clear()
            self._uncut = 0
        self._updated, self._zeroed = update.done(), set()
        return loss

    # No scheduler need replace it to see it called, and no load_state_dict() need add the hooks once more.
    step.__dict__.update(_wrapped_by_lr_sched=True, hooked=True)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops every gradient, also those that loss.backward() has left for step() to compute.

        With `set_to_none=False`, a parameter that gets no gradient later is updated with zeros, as in the plain loop.
        """
        _bring_gradients(self)
        parameters = self._parameters()
        if self._pending:
            ours = {id(_ANCHOR), id(self), *map(id, parameters)}
            if not (set_to_none and ours.issuperset(map(id, _reached(self._pending)))):
                self._accumulate()  # models upstream want what passes through this one; zeros stay where a gradient was
        if set_to_none:
            self._zeroed = set()
        else:
            self._zeroed |= self._updated | {id(p) for p in parameters if p.grad is not None}
        self._updated = set()
        self._pending.clear()
        self._adjustments.clear()
        self._uncut = 0
        for parameter in parameters:
            parameter.grad = None

    def clip_grad_norm_(
        self, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
    ) -> torch.Tensor:
        """Clips the norm of all gradients, taken as one vector, at the next step(); see torch.nn.utils.clip_grad_norm_.

        A first walk measures each gradient and frees it; step() walks again and scales. Returns the norm before
        clipping, a scalar tensor. Raises RuntimeError if it is not finite and `error_if_nonfinite` is set.
        """
        norms: dict[int, torch.Tensor] = {}
        self._examine(lambda p: norms.update({id(p): torch.linalg.vector_norm(p.grad, norm_type)}))
        ordered = [norms[id(p)] for p in self._parameters() if id(p) in norms]  # summed in torch's order
        if len({(norm.device, norm.dtype) for norm in ordered}) == 1:  # one norm again, which is what torch takes
            ordered = [torch.linalg.vector_norm(torch.stack(ordered), norm_type)]
        total = torch.nn.utils.get_total_norm(ordered, norm_type, error_if_nonfinite)
        clip = torch.nn.utils.clip_grads_with_norm_
        self._adjust(lambda parameters: clip(parameters, max_norm, total))
        return total

    def clip_grad_value_(self, clip_value: float) -> None:
        """Clamps each gradient's elements to [-clip_value, clip_value] at the next step(); costs no extra walk."""
        _bring_gradients(self)
        self._adjust(lambda parameters: torch.nn.utils.clip_grad_value_(parameters, clip_value))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """A block in which the model is not cut: backward() walks all of it, and gradients gather in p.grad."""
        if self._adjustments:
            self._accumulate()  # clipping must not reach what the block adds
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def remove(self) -> None:
        """Makes model and optimizer plain again. Gradients still to come are computed now, into p.grad."""
        _bring_gradients(self)
        self._accumulate()
        self._undo.close()

    # -- the cut: before and after the model's forward

    def _before_forward(self, model: torch.nn.Module, args: Any) -> None:
        if torch.is_grad_enabled() and not self._paused and self._visit is None:
            _bring_gradients(self)  # so that only one micro-batch's activations are alive at a time
            self._accumulate()

    @torch.compiler.disable  # pyright: ignore  # compiling the whole model would trace its hooks
    def _after_forward(self, model: torch.nn.Module, args: Any, output: Any) -> Any:
        if torch.is_grad_enabled() and not self._paused:
            return _map_tensors(functools.partial(self._cut, next(_calls)), output)

    def _cut(self, call: int, output: torch.Tensor) -> torch.Tensor:
        if not output.requires_grad:
            return output
        node = output.grad_fn
        if node is not None and "CompiledFunction" in type(node).__name__:
            direct = {id(getattr(following, "variable", None)) for following, _ in node.next_functions}
            if direct.issuperset(id(p) for p in self._parameters() if p.requires_grad):
                self._warn(_COMPILED_WHOLE)
        cut = _Cut(self, call, output)
        self._cuts.add(cut)
        return _LossSide.apply(_ANCHOR, output.detach(), cut)

    def _warn(self, text: str) -> None:
        if not self._warned:
            warnings.warn(text, stacklevel=5)
        self._warned = True

    def _zero_grad_of_model(self, set_to_none: bool = True) -> None:
        self.zero_grad(set_to_none)
        if (model := self._model()) is not None:
            type(model).zero_grad(model, set_to_none)

    # -- the walk

    def _parameters(self) -> Parameters:
        return [parameter for group in vars(self)["param_groups"] for parameter in group["params"]]

    def _landed_outside(self, parameter: torch.nn.Parameter) -> None:
        if not self._paused:  # it waits in p.grad for step()
            self._uncut += 1
            if self._adjustments:
                raise RuntimeError(_AFTER_CLIPPING)

    def _walk(self, visit: Visit, cuts: "list[_Cut] | None" = None, keep: bool = False) -> None:
        """One joint walk over all pending outputs (or only `cuts`), so that each parameter's gradient lands once."""
        cuts = list(self._pending) if cuts is None else cuts
        if not cuts:
            return
        for cut in cuts:
            cut.keep = keep
            if not keep:
                del self._pending[cut]
                self._cuts.discard(cut)
        self._arm()
        self._visit = visit
        try:
            with _autocast_as(cuts[0].autocast):
                torch.autograd.backward([cut.stub for cut in cuts], retain_graph=keep)
        except RuntimeError as error:
            explanation = next((text for sign, text in _EXPLANATIONS.items() if sign in str(error)), None)
            if explanation is None:
                raise
            raise RuntimeError(f"{error}\n{explanation}") from error
        finally:
            self._visit = None

    def _accumulate(self, cuts: "list[_Cut] | None" = None) -> None:
        """Walks what is pending and leaves the gradients in p.grad, adjusted."""
        if self._pending:
            self._walk(lambda parameter: None, None if self._adjustments else cuts)
            adjustments, self._adjustments = self._adjustments, []
            for adjust in adjustments:
                self._adjust(adjust)

    def _adjust(self, adjust: Callable[[Parameters], Any]) -> None:
        """Changes the gradients: those to come when they land, or all of them now if they are in p.grad."""
        if self._pending:
            self._adjustments.append(adjust)
        elif with_gradient := [p for p in self._parameters() if p.grad is not None]:
            adjust(with_gradient)

    def _examine(self, visit: Visit) -> None:
        """Calls `visit(p)` once for each parameter, with p.grad as step() will see it; keeps none, changes nothing."""
        _bring_gradients(self)
        ours, seen = self._parameters(), set()
        leaves = [*ours, *(leaf for leaf in _reached(self._pending) if isinstance(leaf, torch.Tensor))]
        earlier = {id(leaf): (leaf, leaf.grad) for leaf in leaves}
        others = [(other, cut, cut.gradient) for other in _live if other is not self for cut in other._cuts]

        def show(parameter: Any) -> None:
            if id(parameter) in seen:
                raise RuntimeError(_LANDED_TWICE)
            seen.add(id(parameter))
            if (before := earlier[id(parameter)][1]) is not None:
                parameter.grad = before.clone() if parameter.grad is None else before + parameter.grad
            for adjust in self._adjustments:
                adjust([parameter])
            visit(parameter)
            parameter.grad = None

        try:
            for parameter in ours:
                parameter.grad = None
            with torch.no_grad():
                self._walk(show, keep=True)
                for parameter in ours:
                    if id(parameter) not in seen and earlier[id(parameter)][1] is not None:
                        show(parameter)
        finally:  # what others have got will come again in step()
            for leaf, gradient in earlier.values():
                leaf.grad = gradient
            for other, cut, gradient in others:
                cut.gradient = gradient
                if gradient is None:
                    other._pending.pop(cut, None)

    def _groups_to_unscale(self) -> list[dict[str, Any]]:
        """One parameter whose gradient is 1, or inf if any gradient to come isn't finite.

        GradScaler multiplies it by 1/scale like any other, so it becomes the factor for the real ones.
        """
        if any(parameter.grad is not None for parameter in self._parameters()):
            self._accumulate()  # they coexist already
            return vars(self)["param_groups"]
        finite: list[torch.Tensor] = []
        types: set[torch.dtype] = set()

        def check(parameter: Any) -> None:
            gradient = parameter.grad
            finite.append((gradient._values() if gradient.is_sparse else gradient).isfinite().all())
            types.add(gradient.dtype)

        self._examine(check)
        half = torch.float16 in types  # GradScaler refuses to unscale these, as in the plain loop
        witness = torch.zeros((), device=finite[0].device if finite else None, dtype=torch.float16 if half else None)
        witness.grad = factor = torch.ones_like(witness) if all(finite) else torch.full_like(witness, torch.inf)
        self._adjustments.append(lambda parameters: [p.grad.mul_(factor.to(p.grad.device)) for p in parameters])
        return [{"params": [witness] if finite else []}]


# -- the two sides of a cut


class _Cut:
    """Where one output was cut: the gradient that the loss side leaves, and the way on into the network.

    It lives in the loss side's graph, so an output that is thrown away takes its graph with it. It holds no output
    either, only the network's graph by a scalar stub.
    """

    def __init__(self, owner: BackProp, call: int, output: torch.Tensor) -> None:
        self.owner, self.call = weakref.ref(owner), call
        self.gradient: torch.Tensor | None = None
        self.keep = False  # whether the walk is to be repeated
        self.autocast = _autocast(output.device.type)
        self.stub: torch.Tensor = _NetworkSide.apply(output, weakref.ref(self))

    def land(self, gradient: torch.Tensor) -> None:
        if torch.is_grad_enabled():
            raise RuntimeError(_CREATES_GRAPH)
        self.gradient = gradient if self.gradient is None else self.gradient + gradient
        self.autocast = _autocast(gradient.device.type)  # the walk runs as it would have inside backward()
        if (owner := self.owner()) is not None:
            if owner._adjustments:
                raise RuntimeError(_AFTER_CLIPPING)
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


def _autocast(kind: str) -> tuple[str, Any, bool]:
    """The state of autocast for that kind of device, as torch.autocast takes it."""
    if not torch.amp.is_autocast_available(kind):
        return kind, None, False
    return kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)


def _autocast_as(state: tuple[str, Any, bool]) -> contextlib.AbstractContextManager[Any]:
    return contextlib.nullcontext() if state == _autocast(state[0]) else torch.autocast(*state)


# -- chained models: what one returns, another takes (or the same one again)


def _bring_gradients(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Walks, without updates, all that stands between the loss and this optimizer's model, or its parameters.

    The latest forward call goes first: it can only take what earlier ones returned.
    """
    loaded = [other for other in _live if other._pending]
    if not loaded or (loaded == [optimizer] and len({cut.call for cut in loaded[0]._cuts}) < 2):
        return
    ours = {id(parameter) for group in vars(optimizer)["param_groups"] for parameter in group["params"]}
    while True:
        leading = [
            cut
            for other in _live
            for cut in other._pending
            if any(x is optimizer or (other is not optimizer and id(x) in ours) for x in _reached([cut]))
        ]
        if not leading:
            return
        last = max(leading, key=lambda cut: cut.call)
        owner = last.owner()
        assert owner is not None
        owner._accumulate([cut for cut in owner._pending if cut.call == last.call])


register_optimizer_step_pre_hook(_bring_gradients)  # for plain optimizers of models upstream


def _reached(cuts: Iterable[_Cut]) -> Iterator[Any]:
    """The leaves that the graph behind `cuts` leads to, and the wrapped optimizers whose models it crosses."""
    nodes, seen = [cut.stub.grad_fn for cut in cuts], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if not (following := node.next_functions):
            if (leaf := getattr(node, "variable", None)) is not None:
                yield leaf
        elif isinstance(node, BackwardCFunction) and isinstance(cut := getattr(node, "cut", None), _Cut):
            yield cut.owner()
            nodes.append(cut.stub.grad_fn)
        nodes.extend([other for other, _ in following])


# -- the buckets


class _Places:
    """Where an optimizer's parameters are: by id, the index of the group and the bytes of the gradient to come.

    It keeps the parameters, so that their ids stay theirs, and serves all steps until the groups are others.
    """

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        self.parameters = [list(group["params"]) for group in groups]
        self.ids = _ids(groups)
        self.of = {
            id(p): (index, p.numel() * p.element_size()) for index, group in enumerate(self.parameters) for p in group
        }
        total: int = sum(size for _, size in self.of.values())
        self.capacity = min(max(total // 64, _SMALLEST_BUCKET), _LARGEST_BUCKET)


def _ids(groups: list[dict[str, Any]]) -> list[list[int]]:
    return [[id(parameter) for parameter in group["params"]] for group in groups]


class _Update:
    """One step of an optimizer, taken in buckets as gradients land.

    A bucket narrows param_groups to its parameters for one call of the optimizer's own step(). Each call starts from
    the settings of the step's start, so that what is kept in a group (a step count, a sum of weights) advances once a
    step.
    """

    def __init__(self, optimizer: Any, plain: Any, capacity: int | None, adjustments: list[Any]) -> None:
        self.optimizer, self.adjustments = optimizer, adjustments
        step = plain.step
        self.take_step = step.__wrapped__ if hasattr(step, "hooked") else step  # step hooks fire once, in BackProp.step
        self.groups: list[dict[str, Any]] = optimizer.param_groups
        self.settings = [{k: v for k, v in group.items() if k != "params"} for group in self.groups]
        self.after: dict[int, dict[str, Any]] = {}
        places: _Places | None = getattr(optimizer, "_places", None)
        if places is None or places.ids != _ids(self.groups):
            places = optimizer._places = _Places(self.groups)
        self.places = places.of
        self.waiting = dict(places.of)  # those of them that have not landed
        self.capacity: int = places.capacity if capacity is None else capacity
        self.bytes = 0
        self.bucket: Parameters = []
        self.stream: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()  # the one the bucket landed on
        self.raw_stream = -1
        self.autocast = next(_autocast(p.device.type) for group in self.groups for p in group["params"])

    def landed(self, parameter: torch.nn.Parameter) -> None:
        place = self.waiting.pop(id(parameter), None)
        if place is None:
            if id(parameter) in self.places and parameter.grad is not None:
                raise RuntimeError(_LANDED_TWICE)
            return  # taken out of the optimizer since
        size = place[1]
        if parameter.is_cuda and self.raw_stream != (raw := torch._C._cuda_getCurrentRawStream(parameter.device.index)):
            self.flush()  # on another stream its gradients might not be there yet, or be overwritten too early
            self.raw_stream, self.stream = raw, torch.cuda.stream(torch.cuda.current_stream(parameter.device))
        if self.bytes + size > self.capacity:
            self.flush()
        self.bucket.append(parameter)
        self.bytes += size
        if self.bytes >= self.capacity:
            self.flush()

    def done(self) -> set[int]:
        """The ids of the parameters that were updated."""
        return self.places.keys() - self.waiting.keys()

    def flush(self) -> None:
        bucket, self.bucket, self.bytes = self.bucket, [], 0
        narrowed: dict[int, Parameters] = {}
        for parameter in bucket:
            place = self.places[id(parameter)]
            if parameter.grad is None:  # updated by a hook of the user's
                self.waiting[id(parameter)] = place
            else:
                narrowed.setdefault(place[0], []).append(parameter)
        if not narrowed:
            return
        bucket = [parameter for chosen in narrowed.values() for parameter in chosen]
        with self.stream:
            for adjust in self.adjustments:
                adjust(bucket)
            self.call(narrowed)
            for parameter in bucket:
                parameter.grad = None

    def call(self, parameters: dict[int, Parameters]) -> None:
        groups: dict[int, dict[str, Any]] = {}
        for index, chosen in parameters.items():  # a tensor may be changed in place
            settings = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in self.settings[index].items()}
            groups[index] = {**settings, "params": chosen}
        self.optimizer.param_groups = list(groups.values())
        try:
            with _autocast_as(self.autocast):  # as around step(), not as around backward()
                self.take_step(self.optimizer)
        finally:
            self.optimizer.param_groups = self.groups
        self.after.update(groups)

    def finish(self) -> None:
        self.stream = contextlib.nullcontext()  # by now the caller's stream has waited for all others
        self.flush()
        untouched = {index: group["params"] for index, group in enumerate(self.groups) if index not in self.after}
        if untouched:  # without gradients nothing moves, but an optimizer may count the step
            self.call(untouched)
        for index, after in self.after.items():
            for name, value in after.items():
                before: Any = self.settings[index].get(name)
                if isinstance(before, torch.Tensor) and isinstance(value, torch.Tensor):
                    before.copy_(value)
                elif name != "params" and value is not before:
                    self.groups[index][name] = value


# -- copies of the model are plain models


class _ModelHook:
    """A method of the optimizer, among the model's hooks or in place of its method `name`.

    A copy of the model, and the model once the optimizer is gone, has what a plain model has: its class's method, or a
    hook that does nothing.
    """

    def __init__(self, model: torch.nn.Module, method: Callable[..., Any], name: str = "") -> None:
        self.model, self.method, self.name = weakref.ref(model), weakref.WeakMethod(method), name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (self.method() or self.plain(self.model()))(*args, **kwargs)

    def plain(self, model: Any) -> Any:
        return getattr(type(model), self.name).__get__(model) if self.name else _NOTHING.__exit__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.plain(memo.get(id(self.model())))

    def __reduce__(self) -> Any:
        return (getattr, (self.model(), self.name)) if self.name else (getattr, (_NOTHING, "__exit__"))


_NOTHING = contextlib.nullcontext()  # its __exit__ takes anything, returns None, and unpickles without this file


# -- refusals: what cannot be exact, or would save nothing

_LANDED_TWICE = (
    "a parameter's gradient landed twice in one walk, so its update would use only a part of it; a layer shared "
    "between reentrant checkpoints does this: use torch.utils.checkpoint(..., use_reentrant=False)"
)
_AFTER_CLIPPING = (
    "backward() came after clipping or unscaling, which would then apply to its gradients too; call it before them, or "
    "run the model forward in between"
)
_CREATES_GRAPH = (
    "backward(create_graph=True) would stop where BackProp cuts the model's output; run forward and backward inside "
    "`with optimizer.paused():`"
)
_COMPILED_WHOLE = (
    "the whole model is compiled as one graph, which returns all gradients at once, so BackProp saves no memory; "
    "compile its blocks one by one instead: `for block in model.blocks: block.compile()`"
)
_AROUND_THE_CUT = (
    "backward() itself computed the gradients, so BackProp saves no memory: the loss reached the network around its "
    "cut output; call the model itself, not its forward() or a part of it, and return tensors in tuples, lists, dicts, "
    "dataclasses or classes registered with torch.utils._pytree.register_pytree_node"
)
_EXPLANATIONS = {
    "modified by an inplace operation": (
        "BackProp walks the network inside optimizer.step(): a weight or activation that the walk still needed was "
        "changed in place since forward, either by your code (do it after optimizer.step()) or by the weight's own "
        "update, when the network also uses it detached (train that loss inside `with optimizer.paused():`)"
    ),
    "backward through the graph a second time": (
        "BackProp walks each forward's graph once, in optimizer.step() or before the next forward: call backward() for "
        "all losses on an output before those, and return from the model all that a loss uses (an auxiliary loss kept "
        "aside reaches the network around the cut), or use `with optimizer.paused():`"
    ),
}
_MIXES = (
    "{} updates one parameter differently when it sees another's gradient (found by trying it on two small tensors), "
    "so updating them one at a time would not be exact; use an optimizer that treats each parameter by itself, or "
    "leave this one unwrapped"
)
_FAILS = (
    "BackProp tried {} on two small tensors, to see whether it can update one at a time, and its step() failed: {}; "
    "use another optimizer, or leave this one unwrapped"
)
_NEEDS_CLOSURE = (
    "{} evaluates the loss several times in one step, each time with all gradients, so BackProp cannot free them one "
    "by one; use an optimizer whose step() needs no closure, or leave this one unwrapped"
)
_WRAPPERS = {
    "DataParallel": "one process per GPU with torch.distributed.fsdp.fully_shard",
    "DistributedDataParallel": "torch.distributed.fsdp.fully_shard, before BackProp",
    "FullyShardedDataParallel": "torch.distributed.fsdp.fully_shard instead of FSDP1",
}
_TRIAL_STEPS = 12  # by then Prodigy's and D-Adaptation's shared step size has left its first value


def _refuse_model(model: Any, optimizer: Any) -> None:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"BackProp takes a torch.nn.Module and an optimizer, not a {type(model).__name__} first")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"BackProp takes a torch.optim.Optimizer second, not a {type(optimizer).__name__}")
    for name in (kind.__name__ for module in model.modules() for kind in type(module).__mro__):
        if name in _WRAPPERS:
            raise TypeError(
                f"{name} collects all gradients during backward(), so BackProp cannot free them one by one; "
                f"use {_WRAPPERS[name]}"
            )
    given = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if isinstance(optimizer, BackProp) or any(given & {id(p) for p in other._parameters()} for other in _live):
        raise ValueError("these parameters were given to BackProp before; call remove() on that optimizer first")
    if any(other._model() is model for other in _live):
        raise ValueError(
            "this model was given to BackProp before; put all its parameters into one optimizer (as groups), or step a "
            "second, plain optimizer after this one"
        )
    if not given & {id(p) for p in model.parameters()}:
        raise ValueError("the optimizer has no parameter of this model; build it from model.parameters()")


def _refuse_optimizer(optimizer: torch.optim.Optimizer) -> None:
    name = type(optimizer).__name__
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise TypeError(_NEEDS_CLOSURE.format(name))
    tried: set[str] = set()
    for group in optimizer.param_groups:
        kind = repr(sorted((k, v) for k, v in group.items() if isinstance(v, bool | str)))  # groups may differ by flags
        real = group["params"][0] if group["params"] else None
        if kind in tried or real is None or real.is_meta or type(real).__name__ == "FakeTensor":
            continue
        tried.add(kind)
        with torch.random.fork_rng(devices=[real.device] if real.is_cuda else []), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                together, apart = (_trial(optimizer, group, real, capacity) for capacity in (sys.maxsize, 0))
            except Exception as error:
                raise TypeError(_FAILS.format(name, f"{type(error).__name__}: {error}")) from error
        if not torch.equal(together, apart):
            raise TypeError(_MIXES.format(name))


def _trial(
    optimizer: Any, group: dict[str, Any], real: torch.Tensor, capacity: int, sparse: bool = False
) -> torch.Tensor:
    """What some steps of such an optimizer make of two small tensors, updated in buckets of `capacity` bytes."""
    torch.manual_seed(0)
    accepted = inspect.signature(type(optimizer).__init__).parameters
    settings = {k: v for k, v in group.items() if k in accepted and k != "params"}
    if "lr" in settings and not float(settings["lr"]):  # a warm-up starts at 0, where all updates look alike
        settings["lr"] = 0.01
    numbers = torch.arange(16.0, device=real.device).reshape(4, 4)
    tensors = [torch.nn.Parameter(numbers.sin().to(real.dtype)) for _ in range(2)]
    twin = type(optimizer)(tensors, **settings)
    getattr(twin, "train", lambda: None)()  # schedule-free optimizers
    try:
        for step in range(_TRIAL_STEPS):
            update = _Update(twin, type(optimizer), capacity, [])
            for scale, tensor in zip((1, 30), tensors, strict=True):
                gradient = (scale * (numbers + step).cos()).to(real.dtype)
                tensor.grad = gradient.to_sparse() if sparse else gradient
                update.landed(tensor)
            update.finish()
    except Exception:
        if sparse:
            raise
        with contextlib.suppress(Exception):  # SparseAdam takes no other; if it fails too, the first failure tells more
            return _trial(optimizer, group, real, capacity, sparse=True)
        raise
    return torch.cat([tensor.detach() for tensor in tensors])


if __name__ == "__main__":
    try:
        from timelines.headline import main
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("timelines"):
            raise
        sys.exit("backprop.py measures with timelines/ and workloads/ beside it: copy those too, or only import it")
    main()
