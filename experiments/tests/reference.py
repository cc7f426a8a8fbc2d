"""The plainest form of the idea, as first sketched: one optimizer per parameter, stepped by the gradient's own hook.

It takes a model that returns one tensor and forward/backward pairs one at a time. The wrapper is compared with it.
"""

import inspect

import torch


class Reference:
    def __init__(self, model, optimizer):
        self.model, self.held = model, []
        accepted = inspect.signature(type(optimizer).__init__).parameters
        for group in optimizer.param_groups:
            settings = {name: value for name, value in group.items() if name in accepted and name != "params"}
            for parameter in group["params"]:
                self.arm(parameter, type(optimizer)([parameter], **settings))

    @staticmethod
    def arm(parameter, optimizer):
        def update(_):
            optimizer.step()
            optimizer.zero_grad()

        parameter.register_post_accumulate_grad_hook(update)

    def __call__(self, *inputs):
        output = self.model(*inputs)
        cut = output.detach().requires_grad_(True)
        self.held.append((output, cut))
        return cut

    def step(self):
        output, cut = self.held.pop()
        output.backward(cut.grad)

    def zero_grad(self):
        """Each hook has freed its gradient already."""


def reference(model, optimizer):
    wrapped: torch.nn.Module | Reference = Reference(model, optimizer)
    return wrapped, wrapped
