"""Play tournaments: matches won by chance."""

import random


def play_matches(competition, teams, results, seed=1):
    """Return the state of `competition` after so many `results`."""
    rng = random.Random(seed)
    state = competition.play(competition.opening, {"do": "enter", "teams": teams})
    for _ in range(results):
        if not (ready := competition.ready(state)):
            break
        state = competition.play(state, {"do": "result", "match": ready[0].id, "winner": rng.choice(ready[0].teams)})
    return state
