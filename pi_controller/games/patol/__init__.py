"""Pa-tol."""
