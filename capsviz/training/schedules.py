"""How the learning rate moves with the step: a pure function, so that resuming needs no state."""

import math

# Decay factor and the number of steps it takes, as in Yang, Li & Yu 2021, section IV.B.
STAIRCASES = {
    "paper-fashion": (0.96, 1_000),
    "paper-mnist-fc": (0.5, 1_000),
    "paper-multi-mnist": (0.96, 20_000),
}
SCHEDULES = ("constant", *STAIRCASES, "one-cycle")
WARM_UP_SHARE = 0.2


def learning_rate(schedule: str, peak: float, step: int, total: int) -> float:
    """The learning rate of one step (counted from 0) out of `total`.

    The paper's schedules fall in stairs; "one-cycle" rises along a line for a fifth of the steps and then falls to
    zero along a cosine. Source: Yang, Li & Yu 2021, section IV.B; Smith & Topin 2018 for the cycle.
    """
    if schedule in STAIRCASES:
        factor, every = STAIRCASES[schedule]
        return peak * factor ** (step // every)
    if schedule == "one-cycle":
        warm_up = max(1, round(WARM_UP_SHARE * total))
        if step < warm_up:
            return peak * (step + 1) / warm_up
        progress = (step - warm_up) / max(1, total - warm_up)
        return peak * 0.5 * (1 + math.cos(math.pi * progress))
    return peak
