"""Any Hugging Face model, built from its config.json with new weights; nothing is downloaded.

Attention is torch's scaled_dot_product_attention where the model has it. The model is built in torch's default dtype,
whatever the config says, and in training mode, with the config's dropout.
"""

import contextlib
import copy
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._pytree import tree_leaves

from timelines.errors import UsageError

DEFAULT_SEQ_LEN = 512
_IMAGE_SIZE = 224  # pixels, where the config leaves it open
_SAMPLES = 16_000  # one second of sound

# What a batch holds beside the inputs, by the auto class whose list has the model; the first that has it decides.
_KINDS = {
    "tokens": ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ", "IMAGE_TEXT_TO_TEXT"),
    "class": ("IMAGE_CLASSIFICATION", "SEQUENCE_CLASSIFICATION"),
}
_SETTINGS = {
    "use_cache": False,  # keys and values of past tokens serve generation only
    # Layers left out at random would give each step another peak.
    **dict.fromkeys(("layerdrop", "encoder_layerdrop", "decoder_layerdrop"), 0.0),
}
# Models whose first positions are kept for padding: an embedding of 514 rows numbers 512 tokens.
_PADDED_POSITIONS = ("camembert", "data2vec-text", "longformer", "roberta", "xlm-roberta", "xlm-roberta-xl", "xmod")


def from_config(path: str, batch_size: int, seq_len: int | None = None) -> "HuggingFace":
    """The model that the config.json at `path`, or in the folder `path`, describes.

    `seq_len` is at most 512 unless given, and means nothing to models that read no text.

    Raises:
        UsageError: no such file, not a config, no `architectures`, or a model that the installed transformers lacks.
    """
    file = Path(path) / "config.json" if Path(path).is_dir() else Path(path)
    named = _read(file).get("architectures")
    if not isinstance(named, list) or not named or not isinstance(named[0], str):
        raise UsageError(f'{file}: has no "architectures"; add the class to train, such as ["LlamaForCausalLM"]')
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise UsageError(f"{file}: needs the package transformers: pip install transformers ({error})") from error
    if int(transformers.__version__.split(".")[0]) < 5:
        raise UsageError(f"{file}: transformers {transformers.__version__} is too old: pip install 'transformers>=5'")
    model_class = getattr(transformers, named[0], None)
    if not inspect.isclass(model_class) or not issubclass(model_class, transformers.PreTrainedModel):
        raise UsageError(
            f"{file}: transformers {transformers.__version__} has no model {named[0]}; code that comes with a config "
            "is not run, so pass your own function as package.module:function"
        )
    try:
        config = transformers.AutoConfig.from_pretrained(file, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the checks of each config class raise what they like
        raise UsageError(f"{file}: transformers {transformers.__version__} refuses it: {_sentence(error)}") from error
    expected = getattr(model_class, "config_class", None)
    if expected is not None and not isinstance(config, expected):
        raise UsageError(
            f"{file}: {named[0]} takes a {expected.__name__}, but model_type {config.model_type!r} is another"
        )
    workload = HuggingFace(str(path), config, model_class, batch_size, None)
    if model_class.main_input_name in ("pixel_values", "input_values"):
        return workload
    return replace(workload, seq_len=seq_len or min(DEFAULT_SEQ_LEN, workload.context or DEFAULT_SEQ_LEN))


@dataclass(frozen=True)
class HuggingFace:
    """A model class of transformers, its config, and a batch of the kind it trains on.

    seq_len is None for models of images and sounds; for encoder-decoders it is the length of both sides.
    """

    name: str
    config: Any
    model_class: Any
    batch_size: int
    seq_len: int | None

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model, with the same weights at every call.

        Raises:
            UsageError: the model cannot be built from its config.
        """
        config = copy.deepcopy(self.config)  # models write into theirs
        config._attn_implementation = "sdpa" if self.model_class._supports_sdpa else "eager"
        for part in (config, *(getattr(config, key) for key in config.sub_configs)):
            for name, value in _SETTINGS.items():
                if hasattr(part, name):
                    setattr(part, name, value)
        if self._kind == "class" and getattr(config.get_text_config(), "pad_token_id", 0) is None:
            config.get_text_config().pad_token_id = 0  # decoders classify at the last token that is not padding
        torch.manual_seed(0)
        try:
            with device, _fake_tensors_need_no_values(device):
                return self.model_class(config)
        except Exception as error:
            raise UsageError(f"{self.name}: {self.model_class.__name__} cannot be built: {_sentence(error)}") from error

    def batch(self, device: torch.device) -> dict[str, Any]:
        """What the model's forward() takes, by name.

        Raises:
            UsageError: it takes neither text nor images nor sound.
        """
        try:
            return self._batch(device)
        except AttributeError as error:  # the config lacks the sizes
            raise UsageError(
                f"{self.name}: no batch suits {self.model_class.__name__} ({error}); pass your own function as "
                "package.module:function"
            ) from error

    def _batch(self, device: torch.device) -> dict[str, Any]:
        accepted = inspect.signature(self.model_class.forward).parameters
        main = self.model_class.main_input_name
        batch = {main: self._inputs(main, device)}
        if "return_loss" in accepted:  # CLIP and its like compare texts with images
            batch |= {"pixel_values": self._inputs("pixel_values", device), "return_loss": True}
        if self._kind and "labels" in accepted:
            batch["labels"] = self._classes(device) if self._kind == "class" else self._tokens(device)
        elif self.config.is_encoder_decoder and "decoder_input_ids" in accepted:
            batch["decoder_input_ids"] = self._tokens(device)
        return batch

    def loss(self, model: torch.nn.Module, batch: dict[str, Any]) -> torch.Tensor:
        """The model's own loss; where it has none, the mean of the first output that has a gradient. A scalar.

        Raises:
            UsageError: no output has a gradient.
        """
        with _nothing_is_padded():
            output = model(**batch)
        loss = getattr(output, "loss", None)
        if loss is not None:
            return loss
        for leaf in tree_leaves(output):
            if torch.is_tensor(leaf) and leaf.requires_grad:
                return leaf.mean()
        raise UsageError(f"{self.name}: {self.model_class.__name__} returns nothing that has a gradient")

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        return self._parameters

    @property
    def context(self) -> int | None:
        """How many tokens it can read at once; None if there is no limit, or no text."""
        config = self.config.get_text_config(decoder=self.config.is_encoder_decoder)
        names = ("max_position_embeddings", "max_target_positions")
        limit = next((getattr(config, name) for name in names if getattr(config, name, None)), None)
        return limit - (config.pad_token_id or 0) - 1 if limit and config.model_type in _PADDED_POSITIONS else limit

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        layers = getattr(self.config.get_text_config(), "num_hidden_layers", None)
        return {
            "name": self.model_class.__name__,
            "parameters": self.parameters,
            "batch_size": self.batch_size,
            **({"seq_len": self.seq_len} if self.seq_len else {}),
            **({"layers": layers} if isinstance(layers, int) and layers else {}),
            "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        }

    @cached_property
    def _parameters(self) -> int:
        return sum(p.numel() for p in self.model(torch.device("meta")).parameters() if p.requires_grad)

    @cached_property
    def _kind(self) -> str | None:
        from transformers.models.auto import modeling_auto

        if getattr(self.config, "problem_type", None) == "multi_label_classification":
            return None
        for kind, lists in _KINDS.items():
            for name in lists:
                classes = getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES", {}).values()
                if self.model_class.__name__ in classes:
                    return kind
        return None

    def _inputs(self, name: str, device: torch.device) -> torch.Tensor:
        """Tokens (batch, seq_len), images (batch, channels, h, w), or sound as samples or as mel bins over time."""
        if name == "input_features":
            return torch.ones(
                self.batch_size, self.config.num_mel_bins, 2 * self.config.max_source_positions, device=device
            )
        if name == "input_values":
            return torch.linspace(-1, 1, _SAMPLES, device=device).repeat(self.batch_size, 1)
        if name == "pixel_values":
            vision = getattr(self.config, "vision_config", self.config)
            size = getattr(vision, "image_size", None) or _IMAGE_SIZE
            height, width = (size, size) if isinstance(size, int) else size
            shape = (self.batch_size, getattr(vision, "num_channels", 3), height, width)
            return torch.linspace(-1, 1, self.batch_size * shape[1] * height * width, device=device).view(shape)
        return self._tokens(device)

    def _tokens(self, device: torch.device) -> torch.Tensor:
        shape = (self.batch_size, self.seq_len or DEFAULT_SEQ_LEN)
        vocab = self.config.get_text_config().vocab_size
        # None of the first few: they stand for padding, or mark a start or an end, and a model may look for them.
        first = min(4, vocab - 1)
        return torch.arange(shape[0] * shape[1], device=device).remainder_(vocab - first).add_(first).view(shape)

    def _classes(self, device: torch.device) -> torch.Tensor:
        if self.config.num_labels == 1:  # a regression
            return torch.zeros(self.batch_size, device=device)
        return torch.arange(self.batch_size, device=device).remainder_(self.config.num_labels)


@contextlib.contextmanager
def _nothing_is_padded() -> Iterator[None]:
    """Tells transformers' masks what they would find out by reading the batch: no padding, and no sequences in a row.

    They cannot read a fake tensor, and then build a mask that a real run does without: its attention would be another.
    """
    from transformers import masking_utils

    plain = masking_utils._preprocess_mask_arguments
    parameters = inspect.signature(plain)

    def preprocess(*args: Any, **kwargs: Any) -> Any:
        given = parameters.bind(*args, **kwargs).arguments
        mask = given.get("attention_mask")
        if torch.is_tensor(mask) and mask.ndim == 2:
            given["attention_mask"] = None
        return plain(**{**given, "position_ids": None})

    with mock.patch.object(masking_utils, "_preprocess_mask_arguments", preprocess):
        yield


@contextlib.contextmanager
def _fake_tensors_need_no_values(device: torch.device) -> Iterator[None]:
    """Makes up for the two places where building a model looks at values, which fake tensors lack.

    One initialization draws again what lies outside its bounds: it is left out. Rates that rise from layer to layer
    come from a linspace that is asked for on the CPU, to be read: it stays a real one.
    """
    if not isinstance(torch.empty(0, device=device), FakeTensor):
        yield
        return
    from transformers import initialization

    plain = torch.linspace

    def linspace(*args: Any, **kwargs: Any) -> torch.Tensor:
        if kwargs.get("device") != "cpu":
            return plain(*args, **kwargs)
        with unset_fake_temporarily():
            return plain(*args, **kwargs).as_subclass(_Real)

    with (
        mock.patch.dict(initialization.TORCH_INIT_FUNCTIONS, trunc_normal_=lambda tensor, **_: tensor),
        mock.patch.object(torch, "linspace", linspace),
    ):
        yield


class _Real(torch.Tensor):
    """A tensor with values among fake ones."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with unset_fake_temporarily():
            return super().__torch_function__(func, types, args, kwargs)


def _read(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise UsageError(f"{file}: is not a config: it holds a {type(config).__name__}, not an object")
    return config


def _sentence(error: Exception) -> str:
    """The first line of what an error says."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:200]}"
