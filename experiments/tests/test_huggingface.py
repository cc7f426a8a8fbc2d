import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_configs import CONFIGS, write_config
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from workload_helpers import CPU, equal, train

from timelines.errors import UsageError
from workloads import huggingface
from workloads.checkpointing import checkpoint_activations
from workloads.registry import named

# What cannot run without values: why is in the test that expects it.
NEEDS_VALUES = {
    "DebertaV2ForSequenceClassification": "its loss picks the labels that are not negative",
    "Wav2Vec2Model": "it masks the places in time that it drew",
}
NEEDS_BFLOAT16 = ("MixtralForCausalLM", "Qwen3MoeForCausalLM")  # the fake form of torch's grouped matmul knows no other
TRAINED = ("LlamaForCausalLM", "MixtralForCausalLM", "BertForMaskedLM", "T5ForConditionalGeneration", "CLIPModel")


class _Operations(TorchDispatchMode):
    """The operations that ran, each with the shapes it returned."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        returned = func(*args, **(kwargs or {}))
        if "prim.device" not in str(func):  # fake tensors ask for it themselves
            some = returned if isinstance(returned, tuple | list) else (returned,)
            self.ran.append(f"{func}{[tuple(tensor.shape) for tensor in some if torch.is_tensor(tensor)]}")
        return returned


def _operations(workload: Any) -> list[str]:
    """What one forward and backward run."""
    model, batch = workload.model(CPU), workload.batch(CPU)
    with _Operations() as operations:
        workload.loss(model, batch).backward()
    return operations.ran


@pytest.fixture
def bfloat16() -> Iterator[None]:
    torch.set_default_dtype(torch.bfloat16)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("architecture", sorted(set(CONFIGS) - set(NEEDS_VALUES) - set(NEEDS_BFLOAT16)))
def test_a_fake_step_runs_what_a_real_one_runs(architecture: str, tmp_path: Path):
    _same_operations(architecture, tmp_path)


@pytest.mark.usefixtures("bfloat16")
@pytest.mark.parametrize("architecture", NEEDS_BFLOAT16)
def test_a_fake_step_of_experts_runs_what_a_real_one_runs(architecture: str, tmp_path: Path):
    _same_operations(architecture, tmp_path)


def _same_operations(architecture: str, folder: Path) -> None:
    workload = huggingface.from_config(str(write_config(folder, architecture)), 2, 8)
    real = _operations(workload)
    with FakeTensorMode():
        fake = _operations(workload)
    if architecture == "SwinForImageClassification":  # torch's fake attention has other strides: some views are copies
        fake, real = ([o for o in ran if "view" not in o and "clone" not in o] for ran in (fake, real))
    assert fake == real


@pytest.mark.parametrize("architecture", NEEDS_VALUES)
def test_a_model_that_reads_values_runs_only_on_real_tensors(architecture: str, tmp_path: Path):
    workload = huggingface.from_config(str(write_config(tmp_path, architecture)), 2, 8)
    _operations(workload)
    with FakeTensorMode(), pytest.raises(DynamicOutputShapeException):
        _operations(workload)


@pytest.mark.exact
@pytest.mark.parametrize("architecture", TRAINED)
def test_both_modes_train_the_same_hugging_face_weights(architecture: str, tmp_path: Path):
    workload = huggingface.from_config(str(write_config(tmp_path, architecture)), 2, 8)
    plain = train(workload, backprop=False)
    assert equal(plain, train(workload, backprop=True))
    assert not equal(plain, workload.model(CPU).state_dict())
    assert workload.parameters == sum(p.numel() for p in workload.model(CPU).parameters())


@pytest.mark.exact
def test_hugging_face_models_checkpoint_by_their_own_switch(tmp_path: Path):
    workload = huggingface.from_config(str(write_config(tmp_path, "LlamaForCausalLM")), 2, 8)
    assert equal(train(workload, backprop=False), train(workload, backprop=True, checkpointed=True))
    resnet = huggingface.from_config(str(write_config(tmp_path, "ResNetForImageClassification")), 2)
    with pytest.raises(UsageError, match=r"^ResNetForImageClassification cannot checkpoint"):
        checkpoint_activations(resnet.model(CPU))


def test_llama_2_7b_runs_without_memory(tmp_path: Path):
    seven = {
        "vocab_size": 32000,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "max_position_embeddings": 4096,
    }
    write_config(tmp_path, "LlamaForCausalLM", **seven)
    workload = named(str(tmp_path))
    assert workload.parameters == 6_738_415_616
    assert workload.describe()["seq_len"] == 512
    with FakeTensorMode():
        train(workload, backprop=True, steps=1)


def test_models_are_built_in_the_default_dtype_with_torchs_attention(tmp_path: Path):
    workload = named(str(write_config(tmp_path, "LlamaForCausalLM", dtype="bfloat16", use_cache=True)))
    model: Any = workload.model(CPU)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.config._attn_implementation == "sdpa"
    assert model.config.use_cache is False
    assert model.training
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), workload.model(CPU).parameters(), strict=True))


@pytest.mark.parametrize(
    ("architecture", "kept", "shapes"),
    [
        ("LlamaForCausalLM", {}, {"input_ids": (2, 8), "labels": (2, 8)}),
        ("BertForSequenceClassification", {}, {"input_ids": (2, 8), "labels": (2,)}),
        ("T5ForConditionalGeneration", {}, {"input_ids": (2, 8), "labels": (2, 8)}),
        ("WhisperForConditionalGeneration", {}, {"input_features": (2, 8, 32), "labels": (2, 8)}),
        ("ViTForImageClassification", {"image_size": [16, 48]}, {"pixel_values": (2, 3, 16, 48), "labels": (2,)}),
        ("ElectraModel", {}, {"input_ids": (2, 8)}),
    ],
)
def test_batches_suit_the_model(architecture: str, kept: dict[str, Any], shapes: dict[str, Any], tmp_path: Path):
    workload = huggingface.from_config(str(write_config(tmp_path, architecture, **kept)), 2, 8)
    assert {name: tuple(tensor.shape) for name, tensor in workload.batch(CPU).items()} == shapes


def test_a_decoder_without_labels_gets_its_own_tokens(tmp_path: Path):
    file = write_config(tmp_path, "T5ForConditionalGeneration", architectures=["T5Model"])
    workload = huggingface.from_config(str(file), 2, 8)
    assert workload.batch(CPU).keys() == {"input_ids", "decoder_input_ids"}
    train(workload, backprop=True, steps=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a config: it holds a list"),
        ('{"model_type": "llama"}', r'has no "architectures"; add the class to train, such as \["LlamaForCausalLM"\]$'),
        ('{"model_type": "llama", "architectures": []}', 'has no "architectures"'),
        (
            '{"model_type": "llama", "architectures": ["NoSuchModel"]}',
            r"transformers .* has no model NoSuchModel; code",
        ),
        ('{"architectures": ["LlamaForCausalLM"]}', r"transformers .* refuses it: "),
        ('{"model_type": "abc", "architectures": ["LlamaForCausalLM"]}', r"transformers .* refuses it: "),
        ('{"model_type": "bert", "architectures": ["LlamaForCausalLM"]}', r"LlamaForCausalLM takes a LlamaConfig, but"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(text: str, message: str, tmp_path: Path):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UsageError, match=message) as error:
        named(str(tmp_path))
    assert str(error.value).startswith(f"{tmp_path}/config.json: ")
    assert "\n" not in str(error.value)


def test_a_config_that_cannot_be_built_is_refused(tmp_path: Path):
    file = write_config(tmp_path, "BertForMaskedLM", num_attention_heads=5)
    with pytest.raises(UsageError, match=r"config.json: BertForMaskedLM cannot be built: ValueError: ") as error:
        named(str(file)).model(CPU)
    assert "\n" not in str(error.value)


def test_a_model_that_reads_something_else_is_refused(tmp_path: Path):
    settings = {"model_type": "patchtst", "architectures": ["PatchTSTForPrediction"]}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(UsageError, match=r"no batch suits PatchTSTForPrediction \(.*\); pass your own function"):
        named(str(tmp_path)).batch(CPU)


def test_a_missing_config_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"config.json: cannot be read: No such file"):
        named(str(tmp_path))
    with pytest.raises(UsageError, match=r"x.json: cannot be read: No such file"):
        named("x.json")


def test_without_transformers_a_config_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"needs the package transformers: pip install transformers"):
        named(str(write_config(tmp_path, "LlamaForCausalLM")))


def test_an_old_transformers_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformers.__version__", "4.57.1")
    with pytest.raises(UsageError, match=r"transformers 4.57.1 is too old: pip install 'transformers>=5'$"):
        named(str(write_config(tmp_path, "LlamaForCausalLM")))


@pytest.mark.parametrize(
    ("architecture", "context"),
    [
        ("LlamaForCausalLM", 64),
        ("GPT2LMHeadModel", 64),
        ("RobertaForMaskedLM", 62),  # the first two of its 64 positions stand for padding
        ("WhisperForConditionalGeneration", 16),
        ("T5ForConditionalGeneration", None),
    ],
)
def test_the_sequence_is_as_long_as_the_models_context(architecture: str, context: int | None, tmp_path: Path):
    file = str(write_config(tmp_path, architecture))
    assert named(file).describe()["seq_len"] == (context or 512)
    if context:
        _operations(named(file, seq_len=context))
        with pytest.raises(UsageError, match=rf"^--seq-len {context + 1}: .* reads at most {context} tokens$"):
            named(file, seq_len=context + 1)
