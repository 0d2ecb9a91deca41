// Whether the visitor asked for less motion.

/** Whether nothing may move by itself or glide: the system's setting for reduced motion. */
export function calm(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
