import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from huggingface_configs import CONFIGS, write_config
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from backprop import BackProp
from timelines.contract import SCHEMA
from timelines.errors import UsageError
from workloads import huggingface, transformer, vision
from workloads.checkpointing import checkpoint_activations
from workloads.linear_stack import LinearStack
from workloads.registry import NAMES, named
from workloads.transformer import Transformer
from workloads.user import user_function
from workloads.vision import Classifier

CPU = torch.device("cpu")
OURS = [
    LinearStack(2, 8, 3),
    Transformer("tiny", layers=2, heads=4, width=16, batch_size=2, seq_len=8, vocab=32, context=8),
    Transformer("tiny", 2, 4, 16, batch_size=2, seq_len=8, vocab=32, context=8, tied=False, dropout=0.1),
    Classifier("tiny", 2, lambda: vision.ViT(layers=2, heads=2, width=16, size=32, classes=10), 2, 32, 10),
    Classifier("tiny", 9, lambda: vision.ResNet(stages=(1, 2), width=4, classes=10), 2, 32, 10),
]
# What cannot run without values: why is in the test that expects it.
NEEDS_VALUES = {
    "DebertaV2ForSequenceClassification": "its loss picks the labels that are not negative",
    "Wav2Vec2Model": "it masks the places in time that it drew",
}
NEEDS_BFLOAT16 = ("MixtralForCausalLM", "Qwen3MoeForCausalLM")  # the fake form of torch's grouped matmul knows no other
TRAINED = ("LlamaForCausalLM", "MixtralForCausalLM", "BertForMaskedLM", "T5ForConditionalGeneration", "CLIPModel")


def _train(workload: Any, backprop: bool, steps: int = 3, checkpointed: bool = False) -> dict[str, torch.Tensor]:
    model = workload.model(CPU)
    if checkpointed:
        checkpoint_activations(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
    if backprop:
        model, optimizer = BackProp(model, optimizer)
    torch.manual_seed(1)  # for dropout
    for _ in range(steps):
        loss = workload.loss(model, workload.batch(CPU))
        assert loss.ndim == 0
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.state_dict()


def _equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


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


# Sizes and shapes


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gpt2-small", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
        ("vit-b-16", 86_567_656),
        ("vit-l-16", 304_326_632),
        ("resnet-50", 25_557_032),
    ],
)
def test_parameters_are_the_published_ones(name: str, parameters: int):
    workload = named(name)
    assert workload.parameters == parameters
    assert sum(p.numel() for p in workload.model(torch.device("meta")).parameters()) == parameters


@pytest.mark.parametrize("name", ["gpt2-small", "gpt2-medium"])
def test_parameters_are_those_of_transformers(name: str):
    transformers = pytest.importorskip("transformers")
    layers, heads, width = transformer.SIZES[name]
    with torch.device("meta"):
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=layers, n_head=heads, n_embd=width))
    assert named(name).parameters == theirs.num_parameters()


@pytest.mark.parametrize("workload", OURS, ids=lambda workload: type(workload).__name__)
def test_workloads_count_the_parameters_that_they_train(workload: Any):
    assert workload.parameters == sum(p.numel() for p in workload.model(CPU).parameters())


def test_logits_are_those_of_gpt2():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=32, n_positions=8, n_embd=16, n_layer=2, n_head=4, bos_token_id=0)
    config.eos_token_id = 0
    theirs = transformers.GPT2LMHeadModel(config).eval()
    ours = OURS[1].model(CPU)
    renamed = {
        "transformer.wte": "tokens",
        "transformer.wpe": "positions",
        "transformer.ln_f": "norm",
        "lm_head": "head",
    }
    for block in range(2):
        for old, new in (
            ("ln_1", "norm1"),
            ("attn.c_attn", "qkv"),
            ("attn.c_proj", "proj"),
            ("ln_2", "norm2"),
            ("mlp.c_fc", "mlp.0"),
            ("mlp.c_proj", "mlp.2"),
        ):
            renamed[f"transformer.h.{block}.{old}"] = f"blocks.{block}.{new}"
    weights = {}
    for name, weight in theirs.state_dict().items():
        module, _, kind = name.rpartition(".")
        weights[f"{renamed[module]}.{kind}"] = weight.T if ".c_" in name and kind == "weight" else weight
    ours.load_state_dict(weights)
    tokens = torch.arange(16).view(2, 8)
    torch.testing.assert_close(ours(tokens), theirs(tokens).logits)


def test_a_decoder_sees_no_later_token():
    model = OURS[1].model(CPU)
    tokens = torch.arange(8).view(1, 8)
    later = tokens.clone()
    later[0, 5:] = 0
    assert torch.equal(model(tokens)[:, :5], model(later)[:, :5])


def test_the_loss_is_that_of_the_next_token():
    workload = Transformer("tiny", 1, 1, 4, batch_size=2, seq_len=3, vocab=5, context=4)
    batch = workload.batch(CPU)
    assert batch.tolist() == [[0, 1, 2, 3], [4, 0, 1, 2]]
    certain = torch.nn.functional.one_hot(batch[:, 1:], 5).float() * 100
    assert workload.loss(lambda tokens: certain, batch) < 1e-6  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("name", "tokens"), [("vit-b-16", 197), ("resnet-50", 7 * 7)])
def test_images_become_logits(name: str, tokens: int):
    workload = named(name, batch_size=2)
    with FakeTensorMode():
        model, (images, classes) = workload.model(CPU), workload.batch(CPU)
        assert images.shape == (2, 3, 224, 224)
        assert classes.shape == (2,)
        seen: list[int] = []
        model.blocks[-1].register_forward_hook(lambda *call: seen.append(call[-1].numel() // 2))  # pyright: ignore
        assert model(images).shape == (2, 1000)
    assert seen == [tokens * (768 if name == "vit-b-16" else 2048)]


# Training


@pytest.mark.exact
@pytest.mark.parametrize("workload", OURS, ids=lambda workload: type(workload).__name__)
def test_both_modes_train_the_same_weights(workload: Any):
    plain = _train(workload, backprop=False)
    assert _equal(plain, _train(workload, backprop=True))
    assert not _equal(plain, workload.model(CPU).state_dict())


@pytest.mark.exact
@pytest.mark.parametrize("workload", OURS[1:4], ids=lambda workload: type(workload).__name__)
def test_checkpointed_blocks_train_the_same_weights(workload: Any):
    plain = _train(workload, backprop=False)
    assert _equal(plain, _train(workload, backprop=False, checkpointed=True))
    assert _equal(plain, _train(workload, backprop=True, checkpointed=True))


def test_a_checkpointed_resnet_only_moves_its_statistics_twice():
    plain, again = (_train(OURS[4], backprop=True, steps=1, checkpointed=c) for c in (False, True))
    differ = {name.rpartition(".")[2] for name in plain if not torch.equal(plain[name], again[name])}
    assert differ == {"running_mean", "running_var", "num_batches_tracked"}


@pytest.mark.parametrize("workload", OURS[1:], ids=lambda workload: type(workload).__name__)
def test_checkpointed_blocks_run_forward_twice(workload: Any):
    model = workload.model(CPU)
    checkpoint_activations(model)
    calls: list[int] = []
    model.blocks[0].register_forward_pre_hook(lambda *_: calls.append(1) and None)
    workload.loss(model, workload.batch(CPU)).backward()
    assert len(calls) == 2


def test_a_model_that_cannot_checkpoint_is_refused():
    with pytest.raises(UsageError, match=r"^Sequential cannot checkpoint its activations: leave out"):
        checkpoint_activations(OURS[0].model(CPU))


@pytest.mark.parametrize("name", ["gpt2-xl", "vit-l-16"])
def test_a_full_size_step_runs_without_memory(name: str):
    with FakeTensorMode():
        _train(named(name), backprop=True, steps=1)


# Hugging Face


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
    plain = _train(workload, backprop=False)
    assert _equal(plain, _train(workload, backprop=True))
    assert not _equal(plain, workload.model(CPU).state_dict())
    assert workload.parameters == sum(p.numel() for p in workload.model(CPU).parameters())


@pytest.mark.exact
def test_hugging_face_models_checkpoint_by_their_own_switch(tmp_path: Path):
    workload = huggingface.from_config(str(write_config(tmp_path, "LlamaForCausalLM")), 2, 8)
    assert _equal(_train(workload, backprop=False), _train(workload, backprop=True, checkpointed=True))
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
        _train(workload, backprop=True, steps=1)


def test_models_are_built_in_the_default_dtype_with_torchs_attention(tmp_path: Path):
    workload = named(str(write_config(tmp_path, "LlamaForCausalLM", dtype="bfloat16", use_cache=True)))
    model = workload.model(CPU)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.config._attn_implementation == "sdpa"  # pyright: ignore
    assert model.config.use_cache is False  # pyright: ignore
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
    _train(workload, backprop=True, steps=1)


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


# The user's own


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder to be in, with mine/own.py in it; its import is undone."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text(
        "import torch\n"
        "def loss(model, batch): return model(batch['x']).mean()\n"
        "def work(batch_size=3): return torch.nn.Linear(4, 2), {'x': torch.ones(batch_size, 4), 'n': 1}, loss\n"
        "def pair(): return torch.nn.Linear(4, 2), torch.ones(3, 4)\n"
        "def nothing(): pass\n"
        "def swapped(): return torch.ones(3, 4), torch.nn.Linear(4, 2), loss\n"
        "def lossless(): return torch.nn.Linear(4, 2), torch.ones(3, 4), 0\n"
        "def vector(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: model(batch)\n"
        "def number(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: 1.0\n"
        "def frozen(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: batch.sum()\n"
        "def fails(): raise KeyError('x')\n"
        "constant = 1\n"
    )
    (tmp_path / "mine" / "broken.py").write_text("1 +\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "mine.own"
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


@pytest.mark.exact
def test_a_users_function_trains_in_both_modes(module: str):
    workload = named(f"{module}:work", batch_size=5)
    plain = _train(workload, backprop=False)
    assert _equal(plain, _train(workload, backprop=True))
    with FakeTensorMode():
        _train(workload, backprop=True)
    assert workload.describe() == {"name": "mine.own:work", "parameters": 10, "batch_size": 5, "dtype": "float32"}


def test_each_step_has_its_own_copy_of_a_users_batch(module: str):
    workload = user_function(f"{module}:work")
    workload.batch(CPU)["x"].zero_()
    assert workload.batch(CPU)["x"].sum() == 12
    assert workload.batch(CPU)["n"] == 1
    assert workload.describe()["batch_size"] == 3


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mine.absent:work", r"cannot import mine.absent: ModuleNotFoundError: No module named 'mine.absent'$"),
        ("mine.broken:work", r"cannot import mine.broken: SyntaxError: "),
        ("mine.own:absent", r"mine.own has no function absent$"),
        ("mine.own:constant", r"mine.own has no function constant$"),
        ("mine.own:fails", r"the function raised KeyError: 'x'$"),
        ("mine.own:nothing", r"must return \(model, batch, loss_fn\), not a NoneType$"),
        ("mine.own:pair", r"must return \(model, batch, loss_fn\), not a tuple of 2$"),
        ("mine.own:swapped", r"must be a torch.nn.Module, not a tensor of shape \(3, 4\) without a gradient$"),
        ("mine.own:lossless", r"must be loss_fn\(model, batch\), not a int$"),
        ("mine.own:vector", r"must return a scalar tensor with a gradient, not a tensor of shape \(3, 2\)$"),
        ("mine.own:number", r"must return a scalar tensor with a gradient, not a float$"),
        ("mine.own:frozen", r"must return a scalar tensor with a gradient, not a tensor of shape \(\) without"),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_users_function_that_does_not_fit_is_refused(target: str, message: str):
    with pytest.raises(UsageError, match=message) as error:
        _train(named(target), backprop=False, steps=1)
    assert str(error.value).startswith(f"{target}: ")


def test_a_users_function_is_told_only_what_it_takes(module: str):
    with pytest.raises(UsageError, match=r"takes no seq_len; add that argument, or leave out --seq-len$"):
        named(f"{module}:work", seq_len=8)
    with pytest.raises(UsageError, match=r"takes no batch_size; add that argument, or leave out --batch$"):
        named(f"{module}:pair", batch_size=8)


# Names


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_workload_with_defaults(name: str):
    workload = named(name)
    assert workload.describe()["name"] == name
    assert workload.describe()["batch_size"] == (2048 if name == "linear-stack" else 1)
    assert named(name, batch_size=3).describe()["batch_size"] == 3


@pytest.mark.parametrize("workload", OURS, ids=lambda workload: type(workload).__name__)
def test_descriptions_fit_the_schema(workload: Any):
    _check_description(workload.describe())


def test_descriptions_of_other_peoples_models_fit_the_schema(module: str, tmp_path: Path):
    _check_description({**named(f"{module}:work").describe(), "checkpointed": True})
    for architecture in ("LlamaForCausalLM", "ResNetForImageClassification", "CLIPModel"):
        _check_description(named(str(write_config(tmp_path, architecture))).describe())


def _check_description(description: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text())
    workload = {**description, "optimizer": {"name": "AdamW", "implementation": "fused", "settings": {}}}
    jsonschema.validate(workload, {**schema["$defs"]["workload"], "$defs": schema["$defs"]})


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        (
            "gpt3",
            {},
            r"^unknown target 'gpt3'; choose linear-stack, gpt2-small, .*, resnet-50, the path of a config.json",
        ),
        ("gpt2-small", {"batch_size": 0}, r"^--batch 0: must be at least 1$"),
        ("gpt2-small", {"batch_size": -1}, r"^--batch -1: must be at least 1$"),
        ("gpt2-small", {"seq_len": 0}, r"^--seq-len 0: must be at least 1$"),
        ("gpt2-small", {"seq_len": 1025}, r"^--seq-len 1025: gpt2-small reads at most 1024 tokens$"),
        ("resnet-50", {"seq_len": 8}, r"^--seq-len 8: resnet-50 reads no sequence of tokens; leave it out$"),
        ("linear-stack", {"seq_len": 8}, r"^--seq-len 8: linear-stack reads no sequence"),
    ],
)
def test_what_a_target_cannot_be_is_refused(target: str, settings: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message):
        named(target, **settings)


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


def test_images_have_no_sequence(tmp_path: Path):
    file = str(write_config(tmp_path, "ViTForImageClassification"))
    with pytest.raises(UsageError, match=r"reads no sequence of tokens; leave it out$"):
        named(file, seq_len=8)
