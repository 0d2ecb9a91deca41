// Numbers as they are written.

/** A number with so many decimals and a true minus sign, which a zero has not. */
export function shown(value: number, decimals = 3): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A number with its sign, whichever it is. */
export function signed(value: number, decimals = 2): string {
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(decimals);
}

/** 0, 1, … up to but without `count`. */
export function indices(count: number): number[] {
  return [...Array(count).keys()];
}
