// Follows the link that stands beside it, once for each time that Python asks for it.

import { type Component } from "./component";

const LINK = ".st-key-page-link a";

let followed = "";

export default function ({ data }: Component<string>): void {
  if (followed === data) return;
  followed = data;
  document.querySelector<HTMLElement>(LINK)?.click();
}
