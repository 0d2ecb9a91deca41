"""Numbers of traces and models, without pictures: agreement, closeness, comparisons, what a dimension means."""
