"""Rows that fold or run along axes: sums, extremes, norms, scans, softmax."""
