// What a key means on keyboards of other scripts: where they write their own letters, what a Latin one writes there.

const PLACES: Readonly<Record<string, string>> = {
  BracketLeft: "[",
  BracketRight: "]",
  Period: ".",
  Comma: ",",
  Minus: "-",
  Equal: "=",
};
const OF_ANOTHER_SCRIPT =
  /^(?![\p{Script=Latin}\p{Script=Common}])[\p{Letter}\p{Mark}\p{Number}\p{Punctuation}]$|^\p{Nd}$/u;

/** What a key writes, letters as without shift or caps lock; by its place where it writes a character of another script. */
export function keyOf({ key, code, altKey }: Pick<KeyboardEvent, "key" | "code" | "altKey">): string {
  if (/^[A-Z]$/.test(key)) return key.toLowerCase();
  if (altKey || key.length !== 1 || key <= "~" || !OF_ANOTHER_SCRIPT.test(key)) return key;
  const named = /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(code);
  if (named) return named[1].toLowerCase();
  return Object.hasOwn(PLACES, code) ? PLACES[code] : key;
}
