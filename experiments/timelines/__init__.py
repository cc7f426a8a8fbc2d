"""Where training memory goes, by category, over time."""
