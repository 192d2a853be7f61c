import { haveClientsKeptUp, type OverloadResults } from "../overload.ts";

const WIDTH = 720;
const HEIGHT = 360;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 150, 50, 50];
/** A share of the peak that no route exceeds by much. */
const MAX = 1.2;
/** Each point is the mean of so many seconds, because the responses of a single one are few. */
const STEP = 3;
const COLOURS = ["#0f766e", "#b45309", "#7c3aed"];

/** Draws the successful responses over the time of the overload, as a share of each route's peak, in SVG. */
export function overloadPlot({ limit, routes: measured }: OverloadResults): string {
  const routes = Object.fromEntries(Object.entries(measured).filter(([, route]) => haveClientsKeptUp(route)));
  const lines = Object.entries(routes).map(([path, { peak, during }]) => ({
    path,
    shares: stepped(during.perSecond).map((count) => count / peak.goodput),
  }));
  const seconds = Math.max(0, ...Object.values(routes).map(({ during }) => during.perSecond.length));
  const x = (second: number): number => Math.round(LEFT + ((WIDTH - LEFT - RIGHT) * second) / seconds);
  const y = (share: number): number =>
    Math.round(HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.min(share, MAX)) / MAX);
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (share) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(share)}" y2="${y(share)}" stroke="#d1d5db"${share === limit ? ' stroke-dasharray="6 4" stroke-width="2"' : ""}/>` +
      `<text x="${LEFT - 8}" y="${y(share) + 4}" text-anchor="end">${Math.round(100 * share)}%</text>`,
  );
  const ticks = Array.from({ length: Math.floor(seconds / 10) + 1 }, (_, n) => n * 10).map(
    (second) => `<text x="${x(second)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${second} s</text>`,
  );
  const drawn = lines.map(({ path, shares }, index) => {
    const points = shares.map((share, n) => `${x((n + 0.5) * STEP)},${y(share)}`).join(" ");
    const colour = COLOURS[index] ?? "#374151";
    return (
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<text x="${WIDTH - RIGHT + 12}" y="${TOP + 24 + index * 22}" fill="${colour}" font-weight="bold">${path}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="#374151">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${LEFT}" y="26" font-size="16" font-weight="bold">Successful responses at three times the peak load, as a share of the peak</text>
${[...grid, ...ticks, ...drawn].join("\n")}
</svg>
`;
}

function stepped(counts: readonly number[]): readonly number[] {
  return Array.from({ length: Math.floor(counts.length / STEP) }, (_, n) => {
    const part = counts.slice(n * STEP, (n + 1) * STEP);
    return part.reduce((sum, count) => sum + count, 0) / part.length;
  });
}
