"""Through which iterations of a routing gradients flow."""

from typing import Literal

Through = Literal["last", "all"]
"""The last iteration only, as training by agreement usually does (Sabour, Frosst & Hinton 2017), or all of them."""
