// A bar for each Gaussian: its weight or its activation.

import { element } from "../core/dom";
import { shown } from "../core/numbers";

/** A bar for each Gaussian, with a mark where it is in the mixture. */
export class Bars {
  readonly root = element("div", { className: "bars", role: "group" });
  private rows: { name: HTMLElement; fill: HTMLElement; mark: HTMLElement; value: HTMLElement; more: HTMLElement }[] =
    [];

  build(colours: readonly string[]): void {
    this.rows = colours.map((colour) => ({
      name: element("span", { className: "name" }),
      fill: element("i", { className: "fill", style: `background:${colour}` }),
      mark: element("i", { className: "mark" }),
      value: element("b"),
      more: element("span", { className: "more" }),
    }));
    this.root.replaceChildren(
      ...this.rows.map(({ name, fill, mark, value, more }) =>
        element("div", { className: "row" }, name, element("span", { className: "track" }, fill, mark), value, more),
      ),
    );
  }

  /** values: 0 to 1, null where not known yet; marks: likewise, without any where null. */
  draw(
    label: string,
    symbol: string,
    values: readonly number[] | null,
    marks: readonly number[] | null,
    more: readonly string[],
  ): void {
    this.root.setAttribute("aria-label", label);
    this.rows.forEach((row, k) => {
      row.name.replaceChildren(symbol, element("sub", { textContent: String(k + 1) }));
      row.fill.style.width = `${100 * (values?.[k] ?? 0)}%`;
      row.mark.hidden = !marks;
      row.mark.style.left = `${100 * (marks?.[k] ?? 0)}%`;
      row.value.textContent = values ? shown(values[k], 3) : "…";
      row.more.textContent = more[k];
    });
  }
}
