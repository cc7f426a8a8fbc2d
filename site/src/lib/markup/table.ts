import { CATEGORIES, SERIES_LABELS, type Series } from "../categories";
import { amount, type Unit } from "../format";
import type { Mode } from "../modes";
import { tableRows } from "../table";
import { markup, type Markup } from "./markup";

/** What each category of one mode holds at the peak and at the end of each phase. */
export function table(mode: Mode, held: readonly Series[], unit: Unit): Markup {
  const { moments, rows, total } = tableRows(mode.timeline);
  const cells = (values: readonly number[]) => values.map((gb) => markup`<td>${amount(gb, unit)}</td>`);
  const unknown: Series[] = held.includes("UNKNOWN") ? ["UNKNOWN"] : [];
  const body = [...CATEGORIES, ...unknown].map(
    (series) =>
      markup`<tr>
        <th scope="row">${SERIES_LABELS[series]}</th>
        ${cells(rows[series])}
      </tr>`,
  );
  return markup`<table>
    <caption>
      ${mode.label}, ${unit.name}
    </caption>
    <thead>
      <tr>
        <td></td>
        ${moments.map((moment) => markup`<th scope="col">${moment}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">total</th>
        ${cells(total)}
      </tr>
    </tfoot>
  </table>`;
}
