"""A simulated mat with players, each with the truth on record. It must never be the only evidence."""
