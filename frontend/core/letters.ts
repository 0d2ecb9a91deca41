// Letters as readers take them, in any script.

/** What readers take for the letters of a text: with their marks, and joined signs together. */
export function lettersOf(text: string): string[] {
  if (!("Segmenter" in Intl)) return Array.from(text); // Firefox before 125
  const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(letters.segment(text), ({ segment }) => segment);
}

/** A name that is written from right to left, so that what follows it stays where it is written. */
export function isolated(name: string): string {
  return /[\p{Script=Hebrew}\p{Script=Arabic}\u061c\u200e\u200f\u202a-\u202e]/u.test(name)
    ? `\u2068${name}\u2069`
    : name;
}

/** The parts of a word that stand on lines of their own: a line may end behind a hyphen, and between two signs of Chinese. */
export function lines(word: string, boxOf: (from: number, to: number) => Pick<DOMRect, "top" | "height">): string[] {
  const parts: string[] = [];
  let [at, above] = [0, NaN];
  for (const letter of lettersOf(word)) {
    const { top, height } = boxOf(at, (at += letter.length));
    if (Math.abs(top - above) < height / 2) parts[parts.length - 1] += letter;
    else parts.push(letter);
    above = top;
  }
  return parts;
}
