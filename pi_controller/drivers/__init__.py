"""What touches hardware, each with its mock on one contract suite. Nothing is opened at import."""
