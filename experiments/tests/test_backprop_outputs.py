"""Whatever a model returns: tensors are cut wherever they are, all else passes through."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import collections
import dataclasses
from typing import Any

import pytest
import torch
from backprop_helpers import BUCKETS, SOME, adamw, assert_exact, batches, mlp, mse, train

from backprop import BackProp

Pair = collections.namedtuple("Pair", "logits hidden")


@dataclasses.dataclass
class Answer:
    logits: torch.Tensor
    hidden: Any = None
    label: str = "x"


@dataclasses.dataclass(frozen=True)
class Frozen:
    logits: torch.Tensor
    hidden: Any = None


@dataclasses.dataclass(slots=True)
class Slotted:
    logits: torch.Tensor
    hidden: Any = None


def model_output(logits, hidden):
    outputs = pytest.importorskip("transformers.modeling_outputs")
    return outputs.CausalLMOutputWithPast(logits=logits, hidden_states=(hidden, hidden))


FORMS = {
    "tensor": (lambda logits, hidden: logits, lambda o: (o, None)),
    "tuple": (lambda logits, hidden: (logits, hidden, 3, None), lambda o: (o[0], o[1])),
    "list": (lambda logits, hidden: [logits, [hidden]], lambda o: (o[0], o[1][0])),
    "dict": (lambda logits, hidden: {"a": logits, "b": {"c": hidden}}, lambda o: (o["a"], o["b"]["c"])),
    "namedtuple": (Pair, lambda o: (o.logits, o.hidden)),
    "ordered dict": (lambda a, b: collections.OrderedDict(a=a, b=b), lambda o: (o["a"], o["b"])),
    "dataclass": (Answer, lambda o: (o.logits, o.hidden)),
    "frozen dataclass": (Frozen, lambda o: (o.logits, o.hidden)),
    "slotted dataclass": (Slotted, lambda o: (o.logits, o.hidden)),
    "nested": (lambda a, b: (Answer(a, [Frozen(b, 5)]), None), lambda o: (o[0].logits, o[0].hidden[0].logits)),
    "ModelOutput": (model_output, lambda o: (o.logits, o.hidden_states[1])),
    "same twice": (lambda logits, hidden: (logits, logits), lambda o: o),
    "integers too": (lambda logits, hidden: (logits, logits.argmax(1), hidden > 0), lambda o: (o[0], None)),
}


class Returning(torch.nn.Module):
    def __init__(self, form):
        super().__init__()
        self.body, self.head, self.form = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3), form

    def forward(self, inputs):
        hidden = torch.tanh(self.body(inputs))
        return self.form(self.head(hidden), hidden)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("use_all", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_output(name, use_all, bucket):
    form, parts = FORMS[name]

    def make():
        model = Returning(form)
        return model, adamw(model.parameters())

    def loss_fn(output, targets):
        logits, hidden = parts(output)
        loss = mse(logits, targets)
        return loss + hidden.square().mean() if use_all and hidden is not None else loss

    assert_exact(make, lambda *pair: train(*pair, loss_fn=loss_fn), BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("name", FORMS)
def test_the_type_and_what_holds_no_gradient_are_kept(name):
    form, _ = FORMS[name]
    model = Returning(form)
    inputs = batches(1)[0][0]
    with torch.no_grad():
        expected = model(inputs)
    model, _ = BackProp(model, adamw(model.parameters()))
    output = model(inputs)
    assert type(output) is type(expected)
    assert str(expected).replace("grad_fn", "") == str(torch.utils._pytree.tree_map(_plainly, output))


def _plainly(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    if dataclasses.is_dataclass(value):
        return type(value)(
            **{
                f.name: torch.utils._pytree.tree_map(_plainly, getattr(value, f.name))
                for f in dataclasses.fields(value)
            }
        )
    return value


@pytest.mark.exact
def test_scalar_loss_from_the_model():
    class WithLoss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp()

        def forward(self, inputs, targets):
            return mse(self.net(inputs), targets)

    def make():
        model = WithLoss()
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        for inputs, targets in batches():
            model(inputs, targets).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
def test_complex_outputs():
    class Spectrum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(6, 8)
            self.phase = torch.nn.Parameter(torch.randn(5, dtype=torch.complex64))

        def forward(self, inputs):
            return torch.fft.rfft(self.net(inputs)) * self.phase

    def make():
        model = Spectrum()
        return model, torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)

    def loop(model, optimizer):
        for inputs, _ in batches():
            model(inputs).abs().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
def test_outputs_may_be_changed_in_place():
    def loop(model, optimizer):
        for inputs, targets in batches():
            output = model(inputs)
            output.mul_(2)[:, 0] = 1.0
            mse(output, targets).backward()
            optimizer.step()
            optimizer.zero_grad()

    def make():
        model = mlp()
        return model, adamw(model.parameters())

    assert_exact(make, loop)


@pytest.mark.exact
def test_a_parameter_or_an_input_as_output():
    class Tables(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.randn(5, 3))
            self.net = torch.nn.Linear(6, 3)

        def forward(self, inputs):
            return self.net(inputs), self.table, inputs

    def make():
        model = Tables()
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        for inputs, targets in batches():
            output, table, _ = model(inputs.requires_grad_())
            (mse(output, targets) + mse(table, targets)).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
def test_a_hugging_face_model():
    transformers = pytest.importorskip("transformers")

    def make():
        config = transformers.GPT2Config(vocab_size=20, n_positions=8, n_embd=8, n_layer=2, n_head=2)
        model = transformers.GPT2LMHeadModel(config).train()
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        losses = []
        for step in range(3):
            words = (torch.arange(16).reshape(2, 8) + step) % 20
            output = model(input_ids=words, labels=words)
            output.loss.backward()
            model.generate(words[:, :2], max_new_tokens=2, do_sample=False, pad_token_id=0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(output.loss.detach())
        return losses

    assert_exact(make, loop)


class Opaque:
    def __init__(self, logits):
        self.logits = logits


@pytest.mark.warned
@pytest.mark.parametrize("way", ["opaque output", "forward() called directly"])
def test_a_network_that_cannot_be_cut_is_exact_and_warns_once(way):
    def make():
        model = Returning(lambda logits, hidden: Opaque(logits))
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        losses = []
        for inputs, targets in batches():
            output = model(inputs) if way == "opaque output" else model.forward(inputs)
            mse(output.logits, targets).backward()
            optimizer.step()
            optimizer.zero_grad()
        return losses

    with pytest.warns(UserWarning, match="backward\\(\\) itself computed the gradients") as caught:
        assert_exact(make, loop)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "backward() itself computed the gradients, so BackProp saves no memory: the loss reached the network around "
        "its cut output; call the model itself, not its forward() or a part of it, and return tensors in tuples, "
        "lists, dicts, dataclasses or classes registered with torch.utils._pytree.register_pytree_node"
    )
