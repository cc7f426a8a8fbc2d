from pathlib import Path

import pytest
import torch
from huggingface_configs import write_config
from torch.nn.functional import cross_entropy
from workload_helpers import CPU, equal, train

from workloads import huggingface
from workloads.chunked_loss import ChunkedLoss


@pytest.fixture
def language_model(tmp_path: Path) -> huggingface.HuggingFace:
    return huggingface.from_config(str(write_config(tmp_path, "LlamaForCausalLM")), 2, 8)


@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_the_loss_is_that_of_all_logits_at_once(language_model: huggingface.HuggingFace, chunks: int):
    batch = language_model.batch(CPU)
    logits = language_model.model(CPU)(input_ids=batch["input_ids"]).logits
    expected = cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
    workload = ChunkedLoss(language_model, chunks)
    model = workload.model(CPU)
    assert len(model(batch["input_ids"])) == chunks
    torch.testing.assert_close(workload.loss(model, batch), expected)
    assert sum(p.numel() for p in model.parameters()) == workload.parameters == language_model.parameters


@pytest.mark.exact
@pytest.mark.parametrize("checkpointed", [False, True])
def test_both_modes_train_the_same_weights(language_model: huggingface.HuggingFace, checkpointed: bool):
    workload = ChunkedLoss(language_model)
    plain = train(workload, backprop=False)
    assert equal(plain, train(workload, backprop=True, checkpointed=checkpointed))
    assert not equal(plain, workload.model(CPU).state_dict())
