from timelines import bench


def test_the_small_tensors_are_290():
    assert len(list(bench.small_tensors().parameters())) == 290


def test_every_side_is_compared_with_the_plain_loop():
    ratios = bench.compare(2, lambda: bench.small_tensors(1, 8), width=8)
    assert list(ratios) == list(bench.SIDES)
    assert ratios["plain"] == 1.0
    assert all(ratio > 0 for ratio in ratios.values())
