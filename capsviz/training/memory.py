"""Keep the memory that a training step frees, so that the next one does not have to ask for it again."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def keep_freed_memory() -> bool:
    """Tell glibc's allocator to reuse large blocks; returns whether there was one to tell.

    By default every tensor of some megabytes is mapped and unmapped anew, and the kernel zeroes its pages each time:
    one batched product over 128 images, forward and back, took 54 ms so and 21 ms without (two cores, float32,
    128 × 10 × 9216 numbers). Elsewhere than on glibc nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = {M_MMAP_MAX: 0, M_TRIM_THRESHOLD: 2**31 - 1, M_TOP_PAD: 2**28}
    return all(mallopt(option, value) == 1 for option, value in settings.items())
