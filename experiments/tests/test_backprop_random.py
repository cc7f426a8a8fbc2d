"""Random sequences of what people do in a loop, on a plain and a wrapped pair side by side."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import pytest
import torch
from backprop_helpers import BUCKETS, adamw, clip_norm, clip_value, mlp, mse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backprop import BackProp

DRAWN = st.lists(
    st.sampled_from(
        [
            "forward and backward",
            "forward and backward",
            "two forwards, one loss",
            "forward only",
            "forward without gradients",
            "paused",
            "penalty",
            "zero_grad",
            "model.zero_grad",
            "step",
            "step",
            "clip the norm",
            "clip the values",
            "learning rate",
            "freeze or unfreeze",
            "save and load",
        ]
    ),
    min_size=3,
    max_size=14,
)


EXAMPLES = 12  # a drawer of the same ones each time; more were drawn when the wrapper was written


class Side:
    """One of the two pairs. After its step() a plain pair drops its gradients, as the wrapped one does by itself."""

    def __init__(self, wrap, bucket, kind):
        torch.manual_seed(0)
        self.model = mlp()
        self.optimizer = kind(self.model.parameters())
        if wrap:
            BackProp(self.model, self.optimizer, bucket_bytes=bucket)
        self.wrapped, self.random, self.clipped = wrap, torch.Generator().manual_seed(3), False

    def batch(self):
        return torch.randn(4, 6, generator=self.random), torch.randn(4, 3, generator=self.random)

    def backward(self, loss):
        loss.backward()

    def do(self, action):
        model, optimizer = self.model, self.optimizer
        inputs, targets = self.batch()
        if action == "forward and backward":
            mse(model(inputs), targets).backward()
        elif action == "two forwards, one loss":
            (mse(model(inputs), targets) + mse(model(-inputs), targets)).backward()
        elif action == "forward only":
            model(inputs)
        elif action == "forward without gradients":
            with torch.no_grad():
                model(inputs)
        elif action == "paused" and self.wrapped:
            with optimizer.paused():
                mse(model(inputs), targets).backward()
        elif action == "paused":
            mse(model(inputs), targets).backward()
        elif action == "penalty":
            if self.wrapped:
                model(inputs)  # after clipping, only a forward lets more gradients in
            if any(parameter.requires_grad for parameter in (model[2].weight,)):
                (0.1 * model[2].weight.square().sum()).backward()
        elif action == "zero_grad":
            optimizer.zero_grad()
        elif action == "model.zero_grad":
            model.zero_grad()
        elif action == "step":
            optimizer.step()
            optimizer.zero_grad()
        elif action == "clip the norm":
            clip_norm(optimizer, model.parameters(), 0.05)
        elif action == "clip the values":
            if self.wrapped or any(
                parameter.grad is not None for parameter in model.parameters()
            ):  # torch's fails there
                clip_value(optimizer, model.parameters(), 0.02)
        elif action == "learning rate":
            optimizer.param_groups[0]["lr"] *= 0.7
        elif action == "freeze or unfreeze":
            optimizer.step()
            optimizer.zero_grad()
            model[2].requires_grad_(not model[2].weight.requires_grad)
        elif action == "save and load":
            optimizer.load_state_dict(optimizer.state_dict())


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.2, momentum=0.9)


@pytest.mark.close  # micro-batches and penalties meet in another order
@pytest.mark.parametrize("kind", [adamw, sgd])
@pytest.mark.parametrize("bucket", ["one by one", "default"])
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(actions=DRAWN)
def test_any_sequence_gives_the_plain_weights(bucket, kind, actions):
    plain, wrapped = Side(False, None, kind), Side(True, BUCKETS[bucket], kind)
    for action in [*actions, "forward and backward", "step"]:
        plain.do(action)
        wrapped.do(action)
    tolerance = 1e-6 if kind is sgd else 1e-4  # Adam divides by the root of sums that are near zero, and so magnifies
    for one, other in zip(plain.model.parameters(), wrapped.model.parameters(), strict=True):
        torch.testing.assert_close(other, one, atol=tolerance, rtol=0)
