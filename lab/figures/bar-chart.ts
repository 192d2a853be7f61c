/** A group of bars, with its own scale. */
export interface BarGroup {
  readonly title: string;
  /** What the bars measure, in a second line. */
  readonly measure: string;
  readonly bars: readonly {
    readonly name: string;
    readonly value: number;
    /** The text after the bar. */
    readonly label: string;
  }[];
}

// Narrow enough to be read on a phone, where it is shrunk to 342 pixels.
const WIDTH = 420;
const BAR = 20;
const HEAD = 52;
const GAP = 16;
const LEFT = 156;
/** Room for the label of the longest bar. */
const RIGHT = 66;
const HIGHLIGHTED = /^Portico\b/;

// A picture follows the colour scheme of the page that contains it.
const STYLE = `svg { font: 13px system-ui, sans-serif; }
rect { fill: #94a3b8; }
rect.portico { fill: #0f766e; }
text { fill: #1f2937; }
.title { font-weight: bold; }
.measure { font-size: 12px; }
.ground { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  rect { fill: #64748b; }
  rect.portico { fill: #2dd4bf; }
  text { fill: #e5e7eb; }
  .ground { fill: #14181f; }
}`;

/** Draws groups of horizontal bars as SVG, for light and dark pages. Portico's own bars are highlighted. */
export function barChart(groups: readonly BarGroup[]): string {
  let top = GAP;
  const drawn = groups.map(({ title, measure, bars }) => {
    const most = Math.max(...bars.map(({ value }) => value));
    const head = `<text class="title" x="12" y="${top + 14}">${escaped(title)}</text>`;
    const unit = `<text class="measure" x="12" y="${top + 32}">${escaped(measure)}</text>`;
    const lines = bars.map(({ name, value, label }, place) => {
      const y = top + HEAD + place * BAR;
      const width = Math.round((value / most) * (WIDTH - LEFT - RIGHT));
      const mark = HIGHLIGHTED.test(name) ? ' class="portico"' : "";
      return (
        `<text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>` +
        `<rect${mark} x="${LEFT}" y="${y - 7}" width="${width}" height="${BAR - 5}"/>` +
        `<text x="${LEFT + width + 6}" y="${y + 4}">${escaped(label)}</text>`
      );
    });
    top += HEAD + bars.length * BAR + GAP;
    return [head, unit, ...lines].join("\n");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${top}"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
