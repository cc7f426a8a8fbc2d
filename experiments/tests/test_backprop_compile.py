"""torch.compile: a block at a time keeps the saving, the whole model at once cannot, and says so."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import pytest
import torch
from backprop_helpers import adamw, assert_exact, assert_same, batches, contents, mse

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:.*TF32.*")


def blocks():
    def block():
        return torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 6))

    return torch.nn.Sequential(block(), block(), torch.nn.Linear(6, 3))


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.exact
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_block_at_a_time(backend):
    def make():
        model = blocks()
        for block in model[:2]:
            block.compile(backend=backend)
        return model, adamw(model.parameters())

    assert_exact(make)


@pytest.mark.exact
def test_a_block_at_a_time_keeps_the_saving():
    model = blocks()
    for block in model[:2]:
        block.compile(backend="aot_eager")
    most = []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda _: most.append(sum(p.grad is not None for p in model.parameters()))
        )
    model, optimizer = BackProp(model, adamw(model.parameters()), bucket_bytes=0)
    model(batches(1)[0][0]).sum().backward()
    optimizer.step()
    assert len(most) == 10
    assert max(most) == 1


WHOLE = (
    "the whole model is compiled as one graph, which returns all gradients at once, so BackProp saves no memory; "
    "compile its blocks one by one instead: `for block in model.blocks: block.compile()`"
)


@pytest.mark.warned
@pytest.mark.parametrize(
    "way", ["torch.compile, then BackProp", "model.compile(), then BackProp", "BackProp, then either"]
)
def test_the_whole_model(way):
    results = []
    for wrap in (False, True):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = blocks()
        optimizer = adamw(model.parameters())
        if wrap and way == "BackProp, then either":
            model, optimizer = BackProp(model, optimizer)
        if way == "model.compile(), then BackProp":
            model.compile(backend="aot_eager")
        else:
            model = torch.compile(model, backend="aot_eager")
        if wrap and way != "BackProp, then either":
            model, optimizer = BackProp(model, optimizer)

        def loop(model=model, optimizer=optimizer):
            for inputs, targets in batches():
                mse(model(inputs), targets).backward()
                optimizer.step()
                optimizer.zero_grad()

        if wrap:
            with pytest.warns(UserWarning, match="compiled as one graph") as caught:
                loop()
            assert [str(warning.message) for warning in caught] == [WHOLE]
        else:
            loop()
        results.append(contents(model, optimizer))
    assert_same(*results)
