// A file for the visitor, by the browser.

import { element } from "./dom";

export function save(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 40_000);
}
