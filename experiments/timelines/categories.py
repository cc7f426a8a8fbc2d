"""The seven categories of training memory: their names, their order from the bottom of a plot, their meaning."""

MEANING = {
    "PARAMETER": "parameters and buffers of the model",
    "OPTIMIZER_STATE": "what the optimizer keeps between steps, such as AdamW's two moments",
    "INPUT": "the batch that the model reads",
    "ACTIVATION": "results of the forward pass that the backward pass will read",
    "GRADIENT": "gradients of the loss with respect to parameters",
    "AUTOGRAD_DETAIL": "other results of the backward pass, such as gradients of activations",
    "TEMPORARY": "everything else, such as an optimizer's intermediate results",
}
CATEGORIES = tuple(MEANING)
LABELS = {
    "PARAMETER": "parameters",
    "OPTIMIZER_STATE": "optimizer state",
    "INPUT": "input",
    "ACTIVATION": "activations",
    "GRADIENT": "gradients",
    "AUTOGRAD_DETAIL": "autograd detail",
    "TEMPORARY": "temporary",
}
