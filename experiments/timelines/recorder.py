"""Sees every tensor storage born and freed during a training step, and says which category it is.

A TorchDispatchMode follows storages, not tensors: views and in-place operations cost nothing, and a storage that two
tensors share counts once. It works alike on CPU, CUDA and fake tensors. What a storage is, is known and not guessed:
parameters and optimizer state by the objects that hold them, activations by autograd's saved-tensor hooks, gradients
by the parameters' own hooks. What lives below the dispatcher is not seen: memory that a kernel takes and returns
inside one operation, and the workspaces of libraries (cuBLAS, cuDNN). One thing changes by being watched, and is put
right: where two branches of the network meet, autograd adds one gradient to the other in place, and under any dispatch
mode into a new tensor (torch/csrc/autograd/input_buffer.cpp, accumulate()).
Recording on the CPU makes a step of 24 Linear layers (fused AdamW, one thread, torch 2.13.0) 7 times as slow at width 8
and batch 2, and 1.07 times at width 1024 and batch 256.
"""

import contextlib
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass
from torch.utils._pytree import SUPPORTED_NODES, tree_leaves

import backprop

_PROVISIONAL = ("AUTOGRAD_DETAIL", "TEMPORARY")  # what a storage is taken for until more is known about it
_MODULE = "timelines.module"  # key in an autograd node's metadata: the module whose forward made it
_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)  # types that are not made of other tensors
CUDA_BLOCK = 512  # bytes: the caching allocator rounds up to it (c10/cuda/CUDACachingAllocator.h, kMinBlockSize)

Clock = Callable[[Any, Any, Any, Any], float]


def wall_clock(*_: Any) -> float:
    """The time in ms, whatever operation has just run."""
    return time.perf_counter() * 1000


@dataclass(eq=False)
class Storage:
    """One storage: its size in bytes, the tensor that it was born with, where, and as what category.

    `by_update` tells whether the optimizer's update made it; `became` is the category that it changed to later in its
    life, if it did; `node` is the number of the autograd node that was running, -1 outside backward.
    """

    nbytes: int
    shape: tuple[int, ...]
    dtype: str
    module: str
    operation: str
    category: str
    by_update: bool = False
    became: str | None = None
    node: int = -1


@dataclass(frozen=True)
class _Sum:
    """A sum of two gradients, not yet in the log: it takes the place of the first one if that dies at once."""

    first: Storage
    result: Storage
    nbytes: int
    operation: str


@dataclass(frozen=True)
class Moment:
    """What was running: the innermost module by its qualified name ("" is the model itself), operation and phase."""

    module: str
    operation: str
    phase: str


class Recorder(TorchDispatchMode):
    """Records the storages of training steps of `model` by `optimizer`; a context manager around them.

    Args:
        model, optimizer: as they are trained, wrapped by BackProp or not.
        clock: tells ms since any origin. It is called with each operation, its args, kwargs and result, and between
            operations with four times None.
        block: sizes are rounded up to a multiple of this many bytes; by default 512 for a model on CUDA, else 1.

    Hooks and modes are removed when the block ends, also when it raises.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        clock: Clock = wall_clock,
        block: int | None = None,
    ) -> None:
        super().__init__()
        on_cuda = any(parameter.is_cuda for parameter in model.parameters())
        self.block = block or (CUDA_BLOCK if on_cuda else 1)
        self.model, self.optimizer = model, optimizer
        self.log: list[tuple[float, Storage, int]] = []  # ms, whose, bytes gained or lost; 0 when it became another
        self.phases: dict[str, tuple[float, float]] = {}
        # dtype, shape, bytes of what was there before and is neither the model's nor the optimizer's: not in the log
        self.foreign: list[tuple[str, tuple[int, ...], int]] = []
        self.end = 0.0
        self.peak_entry = -1  # index in the log
        self.peak_moment = Moment("", "", "")
        self.failed: Moment | None = None  # where an operation raised, if one did
        self._clock = clock
        self._alive: dict[int, Storage] = {}  # by address of the storage's implementation
        self._foreign_alive: set[int] = set()
        self._sum: _Sum | None = None
        self._names = {id(module): name for name, module in model.named_modules()}
        self._parameter_names = {id(parameter): name for name, parameter in model.named_parameters()}
        self._stack: list[str] = []
        self._updating = False
        self._phase = ""
        self._start = self._total = self._most = 0.0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing here is compiled, and the guard against it costs more than the recording

    def __enter__(self) -> "Recorder":
        self._start = self._clock(None, None, None, None)
        self._undo = contextlib.ExitStack()
        try:
            self._install(self._undo)
            self._know_what_is_there()
            super().__enter__()
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        self._settle_sum()
        self.end = self._now()
        try:
            super().__exit__(*exception)
        finally:
            self._undo.close()

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Marks one of the contract's phases."""
        start, self._phase = self._now(), name
        try:
            yield
        finally:
            self._settle_sum()
            self.phases[name] = (start, self._now())
            self._phase = ""
            self._find_optimizer_state()  # new in the first step

    def is_input(self, batch: Any) -> None:
        """Names the batch's tensors, wherever they are nested, as INPUT."""
        for tensor in tensors_in(batch):
            self._become(tensor, "INPUT")

    # -- what is known

    def _install(self, undo: contextlib.ExitStack) -> None:
        undo.callback(torch.nn.modules.module.register_module_forward_pre_hook(self._enter_module).remove)
        hook = torch.nn.modules.module.register_module_forward_hook(self._leave_module, always_call=True)
        undo.callback(hook.remove)
        undo.enter_context(torch.autograd.graph.saved_tensors_hooks(self._saved, lambda tensor: tensor))
        for parameter in self.model.parameters():
            if parameter.requires_grad:
                undo.callback(parameter.register_hook(self._gradient).remove)
        call = backprop._Update.call
        undo.enter_context(mock.patch.object(backprop._Update, "call", self._marked(call)))

    def _know_what_is_there(self) -> None:
        for name, tensor in (*self.model.named_parameters(), *self.model.named_buffers()):
            self._track(tensor, name, "PARAMETER")
            if tensor.grad is not None:
                self._track(tensor.grad, name, "GRADIENT")
        self._find_optimizer_state()

    def _find_optimizer_state(self) -> None:
        for parameter, state in self.optimizer.state.items():
            name = self._parameter_names.get(id(parameter), "")
            for tensor in tensors_in(state):
                self._track(tensor, name, "OPTIMIZER_STATE")
                self._become(tensor, "OPTIMIZER_STATE")

    def _saved(self, tensor: torch.Tensor) -> torch.Tensor:
        self._become(tensor, "ACTIVATION")
        return tensor

    def _gradient(self, gradient: torch.Tensor) -> None:
        self._become(gradient, "GRADIENT")

    def _marked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """BackProp's updates run inside the backward walk, and yet are the optimizer's."""

        def update(*arguments: Any) -> Any:
            self._updating = True
            try:
                return call(*arguments)
            finally:
                self._updating = False

        return update

    def _become(self, tensor: torch.Tensor, category: str) -> None:
        for part in _parts(tensor):
            storage = self._alive.get(part.untyped_storage()._cdata)
            if storage is None or storage.became or storage.category == category:
                continue
            if storage.category in _PROVISIONAL:
                storage.category = category  # what it was from its birth on
            elif category == "OPTIMIZER_STATE" and storage.category == "GRADIENT":
                storage.became = category  # a gradient that is kept: from now on
                self.log.append((self._now(), storage, 0))

    # -- where the program is

    def _enter_module(self, module: torch.nn.Module, args: Any) -> None:
        self._stack.append(self._names.get(id(module), type(module).__name__))

    def _leave_module(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        name = self._stack.pop() if self._stack else ""
        nodes = [tensor.grad_fn for tensor in tensors_in(output)]
        while nodes:  # those that the modules inside have made bear their names already
            node = nodes.pop()
            if node is not None and _MODULE not in _metadata(node):
                _metadata(node)[_MODULE] = name
                nodes.extend(following for following, _ in node.next_functions)

    def _module(self) -> str:
        node = torch._C._current_autograd_node()
        if node is None or self._stack:  # in forward, or in the forward that a checkpoint runs again in backward
            return self._stack[-1] if self._stack else ""
        variable = getattr(node, "variable", None)
        if variable is not None:
            return self._parameter_names.get(id(variable), "").rpartition(".")[0]
        return _metadata(node).get(_MODULE, "")

    # -- births and deaths

    def _now(self) -> float:
        return self._clock(None, None, None, None) - self._start

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.ops.prim.device.default:  # autograd asks each fake tensor, two dispatches out of three
            return args[0].fake_device
        self._settle_sum()
        try:
            result = func(*args, **kwargs)
        except Exception:
            self.failed = Moment(self._module(), str(func), self._phase)
            raise
        self._clock(func, args, kwargs, result)
        if func is not torch.ops.aten.lift_fresh.default:  # which brings a tensor that Python has just made
            self._notice_foreign((args, kwargs))
        first = self._first_of_two_branches(args) if func is torch.ops.aten.add.Tensor else None
        for tensor in tensors_in(result):
            self._track(tensor, None, None, str(func), first)
        return result

    def _first_of_two_branches(self, args: Any) -> Storage | None:
        """The gradient that autograd, unwatched, would add the other one to: it came from an earlier node."""
        if not _in_backward() or torch.is_grad_enabled() or self._updating or not isinstance(args[0], torch.Tensor):
            return None
        storage = self._alive.get(args[0].untyped_storage()._cdata)
        return storage if storage is not None and storage.node not in (-1, _node_number()) else None

    def _settle_sum(self) -> None:
        waiting, self._sum = self._sum, None
        if waiting is not None:
            self._grow(waiting.result, waiting.nbytes, waiting.operation)

    def _notice_foreign(self, arguments: Any) -> None:
        for tensor in tensors_in(arguments):
            for part in _parts(tensor):
                implementation = part.untyped_storage()
                address = implementation._cdata
                if address not in self._alive and address not in self._foreign_alive:
                    self.foreign.append((str(part.dtype), tuple(part.shape), implementation.nbytes()))
                    self._foreign_alive.add(address)
                    weakref.finalize(implementation, self._foreign_alive.discard, address).atexit = False

    def _provisional(self, tensor: torch.Tensor) -> str:
        if not _in_backward() or self._updating:
            return "TEMPORARY"
        if torch.is_grad_enabled():
            return "ACTIVATION"  # a checkpoint runs its forward again inside backward
        variable = getattr(torch._C._current_autograd_node(), "variable", None)
        if variable is not None and variable.shape == tensor.shape:
            return "GRADIENT"  # one that could not be taken as it was, and is copied into p.grad
        return "AUTOGRAD_DETAIL"

    def _track(
        self,
        tensor: torch.Tensor,
        name: str | None,
        category: str | None,
        operation: str = "",
        first: Storage | None = None,
    ) -> None:
        for part in _parts(tensor):
            implementation = part.untyped_storage()
            address, nbytes = implementation._cdata, -(-implementation.nbytes() // self.block) * self.block
            storage = self._alive.get(address)
            if storage is not None:
                self._grow(storage, nbytes - storage.nbytes, operation)
            elif nbytes and not (category is None and address in self._foreign_alive):
                module = self._module() if name is None else name
                dtype = str(part.dtype).removeprefix("torch.")
                kind = category or self._provisional(part)
                by_update = self._updating or (self._phase == "optimizer step" and not _in_backward())
                storage = Storage(0, tuple(part.shape), dtype, module, operation, kind, by_update, node=_node_number())
                self._alive[address] = storage
                if first is not None and first.nbytes == nbytes:
                    self._sum = _Sum(first, storage, nbytes, operation)
                else:
                    self._grow(storage, nbytes, operation)
                weakref.finalize(implementation, self._die, address, storage).atexit = False

    def _grow(self, storage: Storage, nbytes: int, operation: str) -> None:
        if not nbytes:
            return
        storage.nbytes += nbytes
        self.log.append((self._now(), storage, nbytes))
        self._total += nbytes
        if self._total > self._most:
            self._most, self.peak_entry = self._total, len(self.log) - 1
            walk = self._phase == "optimizer step" and _in_backward()
            phase = "the walk inside optimizer step" if walk else self._phase
            self.peak_moment = Moment(self._module(), operation, phase)

    def _die(self, address: int, storage: Storage) -> None:
        if self._sum is not None and self._sum.first is not storage:
            self._settle_sum()
        self.log.append((self._now(), storage, -storage.nbytes))
        self._total -= storage.nbytes
        self._settle_sum()
        if self._alive.get(address) is storage:
            del self._alive[address]


def _metadata(node: Any) -> dict[str, Any]:
    return node.metadata  # typed as a method, and a property in fact


def _in_backward() -> bool:
    return torch._C._current_graph_task_id() != -1


def _node_number() -> int:
    node = torch._C._current_autograd_node()
    return -1 if node is None else node._sequence_nr()


def tensors_in(nested: Any) -> list[torch.Tensor]:
    """The tensors in a value, wherever they are nested in it."""
    found: list[torch.Tensor] = []
    _gather(nested, found)
    return found


def _gather(nested: Any, found: list[torch.Tensor]) -> None:
    # What operations take and return, without the cost of torch's general walk; that one does the rest.
    kind = type(nested)
    if isinstance(nested, torch.Tensor):
        found.append(nested)
    elif kind is tuple or kind is list:
        for value in nested:
            _gather(value, found)
    elif kind is dict:
        for value in nested.values():
            _gather(value, found)
    elif kind in SUPPORTED_NODES or isinstance(nested, tuple):  # named tuples are no nodes of their own
        found.extend(leaf for leaf in tree_leaves(nested) if isinstance(leaf, torch.Tensor))


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors with storages that this one is made of."""
    if type(tensor) in _PLAIN and tensor.layout is torch.strided:
        return [tensor]
    if is_traceable_wrapper_subclass(tensor):
        return [part for name in tensor.__tensor_flatten__()[0] for part in _parts(getattr(tensor, name))]
    if tensor.layout is torch.strided:
        return [tensor]
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    return []
