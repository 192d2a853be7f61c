/** A line over the same values of x as the others. */
interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

/** A chart whose both axes are logarithmic. */
export interface LineChart {
  readonly title: string;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
}

const WIDTH = 720;
const HEIGHT = 360;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 130, 50, 40];
const COLOURS = ["#0d9488", "#d97706", "#8b5cf6", "#64748b"];

// A picture follows the colour scheme of the page that contains it.
const STYLE = `svg { font: 13px system-ui, sans-serif; }
text { fill: #1f2937; }
.title { font-weight: bold; }
.grid { stroke: #d1d5db; }
.ground { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e5e7eb; }
  .grid { stroke: #374151; }
  .ground { fill: #14181f; }
}`;

/** Draws lines as SVG, for light and dark pages. */
export function lineChart({ title, x, lines }: LineChart): string {
  const all = lines.flatMap(({ values }) => values);
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
  const [first, last] = [Math.log10(Math.min(...x)), Math.log10(Math.max(...x))];
  const across = (value: number): number =>
    Math.round(LEFT + ((WIDTH - LEFT - RIGHT) * (Math.log10(value) - first)) / (last - first));
  const up = (value: number): number =>
    Math.round(HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (Math.log10(value) - low)) / (high - low));
  const grid = powers(low, high).map(
    (value) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up(value)}" y2="${up(value)}"/>` +
      `<text x="${LEFT - 8}" y="${up(value) + 4}" text-anchor="end">${short(value)}</text>`,
  );
  const ticks = powers(Math.ceil(first), Math.floor(last)).map(
    (value) => `<text x="${across(value)}" y="${HEIGHT - BOTTOM + 22}" text-anchor="middle">${short(value)}</text>`,
  );
  const drawn = lines.map(({ name, values }, place) => {
    const points = values.map((value, n) => `${across(x[n] ?? 1)},${up(value)}`).join(" ");
    const end = up(values.at(-1) ?? 1);
    const colour = COLOURS[place % COLOURS.length];
    return (
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2.5"/>` +
      `<text x="${WIDTH - RIGHT + 8}" y="${end + 4}">${name}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="12" y="26">${title}</text>`,
    ...grid,
    ...ticks,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function powers(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
}

/** 10000000 as "10M", 0.01 as it is. */
function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(2))}M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(2))}k`;
  return String(Number(value.toPrecision(2)));
}
