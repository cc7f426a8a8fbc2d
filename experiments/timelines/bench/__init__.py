"""The benchmark: BackProp beside the plain loop and beside other ways to the same saving."""
