"""What the benchmark scripts share: projects to measure on, processes, results and curves."""
