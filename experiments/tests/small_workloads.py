"""Every kind of workload, small enough to be trained for real in a test."""

from timelines.training import Workload
from workloads.linear_stack import LinearStack
from workloads.transformer import Transformer
from workloads.vision import Classifier, ResNet, ViT

SMALL: dict[str, Workload] = {
    "linear-stack": LinearStack(batch_size=32, width=128, layers=4),
    "transformer": Transformer(
        "transformer", layers=2, heads=2, width=32, batch_size=2, seq_len=16, vocab=64, context=16
    ),
    "vit": Classifier("vit", 2, lambda: ViT(2, 2, 32, 32, 10), batch_size=2, size=32, classes=10),
    "resnet": Classifier("resnet", 4, lambda: ResNet((1, 1), 8, 10), batch_size=2, size=32, classes=10),
}
