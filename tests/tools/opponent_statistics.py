"""How often the first guess finds, against hiders of several habits: `python tests/tools/opponent_statistics.py`.

Each visit is a new visitor whom nobody knows; the shares are over all hides of all visits.
"""

import argparse
import random

from pi_controller.exhibit.opponents import HabitReader, RandomOpponent


def favourite(rng, history):
    return 2 if rng.random() < 0.6 else rng.randint(1, 4)


def alternates(rng, history):
    return (1 if history[-1][0] == 4 else 4) if history and rng.random() < 0.8 else rng.randint(1, 4)


def walks_on(rng, history):
    return history[-1][0] % 4 + 1 if history and rng.random() < 0.7 else rng.randint(1, 4)


def stays_unless_found(rng, history):
    if not history:
        return rng.randint(1, 4)
    pad, found = history[-1]
    return rng.choice([one for one in (1, 2, 3, 4) if one != pad]) if found else pad


def never_twice(rng, history):
    return rng.choice([pad for pad in (2, 3) if not history or pad != history[-1][0]] or [2])


def by_chance(rng, history):
    return rng.randint(1, 4)


HIDERS = {
    "by chance": by_chance,
    "likes pad 2": favourite,
    "from end to end": alternates,
    "one further each time": walks_on,
    "stays until found": stays_unless_found,
    "the middle two in turn": never_twice,
}


def found_first(opponent, hider, *, visits, hides, seed):
    """Return the share of hides that the first guess of a new `opponent` each visit finds."""
    rng, found = random.Random(seed), 0
    for _ in range(visits):
        mat, history = opponent(rng), []
        for _ in range(hides):
            guess = mat.guess()
            pad = HIDERS[hider](rng, history)
            hit = guess.first == pad
            mat.learn_hide(pad, found=hit)
            history.append((pad, hit))
            found += hit
    return found / (visits * hides)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=2000)
    parser.add_argument("--hides", type=int, default=12)
    args = parser.parse_args()
    print(f"found at the first hit, {args.visits} visits of {args.hides} hides; fair is 25.0 %")
    for hider in HIDERS:
        shares = [
            100 * found_first(kind, hider, visits=args.visits, hides=args.hides, seed=1)
            for kind in (RandomOpponent, HabitReader)
        ]
        print(f"{hider:<24} by chance {shares[0]:5.1f} %   by habits {shares[1]:5.1f} %")


if __name__ == "__main__":
    main()
