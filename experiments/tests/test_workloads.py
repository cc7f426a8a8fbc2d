from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from workload_helpers import CPU, OURS, equal, train

from timelines.errors import UsageError
from workloads import transformer
from workloads.checkpointing import checkpoint_activations
from workloads.registry import named
from workloads.transformer import Transformer


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gpt2-small", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
        ("megatron-8.3b", 8_314_143_744),
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

    class Certain(torch.nn.Module):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return certain

    assert workload.loss(Certain(), batch) < 1e-6


@pytest.mark.parametrize(("name", "tokens"), [("vit-b-16", 197), ("resnet-50", 7 * 7)])
def test_images_become_logits(name: str, tokens: int):
    workload = named(name, batch_size=2)
    with FakeTensorMode():
        model, (images, classes) = workload.model(CPU), workload.batch(CPU)
        assert images.shape == (2, 3, 224, 224)
        assert classes.shape == (2,)
        seen: list[int] = []
        blocks: Any = model.blocks
        blocks[-1].register_forward_hook(lambda *call: seen.append(call[-1].numel() // 2))
        assert model(images).shape == (2, 1000)
    assert seen == [tokens * (768 if name == "vit-b-16" else 2048)]


@pytest.mark.exact
@pytest.mark.parametrize("workload", OURS, ids=lambda workload: type(workload).__name__)
def test_both_modes_train_the_same_weights(workload: Any):
    plain = train(workload, backprop=False)
    assert equal(plain, train(workload, backprop=True))
    assert not equal(plain, workload.model(CPU).state_dict())


@pytest.mark.exact
@pytest.mark.parametrize("workload", OURS[1:4], ids=lambda workload: type(workload).__name__)
def test_checkpointed_blocks_train_the_same_weights(workload: Any):
    plain = train(workload, backprop=False)
    assert equal(plain, train(workload, backprop=False, checkpointed=True))
    assert equal(plain, train(workload, backprop=True, checkpointed=True))


def test_a_checkpointed_resnet_only_moves_its_statistics_twice():
    plain, again = (train(OURS[4], backprop=True, steps=1, checkpointed=c) for c in (False, True))
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
        train(named(name), backprop=True, steps=1)
