// Numbers as they are written.

/** A number with so many decimals and a true minus sign, which a zero has not. */
export function shown(value: number, decimals = 3): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** The ends of a scale, with as many decimals, two to four, as tell them apart. */
export function ends(least: number, most: number): [string, string] {
  const decimals = [2, 3].find((each) => shown(least, each) !== shown(most, each)) ?? 4;
  return [shown(least, decimals), shown(most, decimals)];
}

/** A number with its sign, whichever it is; what is written as a zero has a plus. */
export function signed(value: number, decimals = 2): string {
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) ? "−" : "+") + text;
}

/** A number, rounded to a whole one, with a comma after the thousands. */
export function counted(value: number): string {
  return shown(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Where the `most` largest numbers stand, among them one place that is asked for whatever stands there: rising. */
export function largest(values: ArrayLike<number>, most: number, asked = -1): number[] {
  const found = indices(values.length)
    .sort((a, b) => values[b] - values[a])
    .slice(0, most);
  if (asked >= 0 && !found.includes(asked)) found[found.length - 1] = asked;
  return found.sort((a, b) => a - b);
}

/** 0, 1, … up to but without `count`. */
export function indices(count: number): number[] {
  return [...Array(count).keys()];
}
