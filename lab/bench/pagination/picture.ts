/** The medians of a run, in ms, by way and page. */
export interface Figures {
  readonly rows: number;
  readonly size: number;
  readonly ways: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const WIDTH = 720;
const HEIGHT = 400;
const [LEFT, RIGHT, TOP, BOTTOM] = [70, 30, 50, 60];
/** What is drawn, with its colour and where its name stands. */
const LINES: readonly (readonly [way: string, label: string, colour: string, shift: number])[] = [
  ["kysely, offset", "OFFSET", "#b45309", 20],
  ["kysely-paginate's condition", "cursor by OR", "#7c3aed", -10],
  ["portico, cursor", "Portico, cursor", "#0f766e", -10],
];

/** Draws time against depth, both by powers of ten, as an SVG. */
export function picture({ rows, size, ways }: Figures): string {
  const pages = Object.keys(Object.values(ways)[0] ?? {}).map(Number);
  const times = LINES.flatMap(([way]) => Object.values(ways[way] ?? {}));
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...times)));
  const highest = 10 ** Math.ceil(Math.log10(Math.max(...times)));
  const x = scale(1, Math.max(...pages), LEFT, WIDTH - RIGHT);
  const y = scale(lowest, highest, HEIGHT - BOTTOM, TOP);
  const steps = Array.from(
    { length: Math.round(Math.log10(highest / lowest)) + 1 },
    (_, power) => lowest * 10 ** power,
  );
  const grid = steps.map(
    (ms) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(ms)}" y2="${y(ms)}" stroke="#d1d5db"/>${text(LEFT - 8, y(ms) + 4, "end", timeOf(ms))}`,
  );
  const ticks = pages.map((page) => text(x(page), HEIGHT - BOTTOM + 20, "middle", page.toLocaleString("en")));
  const lines = LINES.map(([way, label, colour, shift]) => {
    const points = Object.entries(ways[way] ?? {}).map(([page, ms]) => [x(Number(page)), y(ms)] as const);
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4" fill="${colour}"/>`).join("");
    const [endX, endY] = points.at(-1) ?? [0, 0];
    const path = points.map((point) => point.join(",")).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}<text x="${endX}" y="${endY + shift}" text-anchor="end" fill="${colour}" font-weight="bold">${label}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="#374151">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${LEFT}" y="26" font-size="16" font-weight="bold">A page of ${size} out of ${rows.toLocaleString("en")} rows on PostgreSQL, p50</text>
${[...grid, ...ticks, ...lines].join("\n")}
${text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, "middle", "page")}
</svg>
`;
}

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) => Math.round(start + ((end - start) * Math.log10(value / from)) / Math.log10(to / from));
}

function text(x: number, y: number, anchor: "middle" | "end", content: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${content}</text>`;
}

function timeOf(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${Number(ms.toPrecision(1))} ms`;
}
