const WIDTH = 720;
const BAR = 18;
const LEFT = 210;
const DRAWN: readonly (readonly [workload: string, title: string])[] = [
  ["A", "A: { hello }"],
  ["B", "B: 20 x 5 objects"],
];

/** Draws the capacity of each server against graphql-js 16 as bars, in SVG. */
export function plotOf(rows: readonly string[], shareOf: (row: string, workload: string) => number): string {
  const servers = rows.filter((row) => !row.startsWith("constant"));
  const height = DRAWN.length * (servers.length * BAR + 50) + 10;
  const charts = DRAWN.map(([workload, title], index) => {
    const top = index * (servers.length * BAR + 50) + 30;
    const most = Math.max(...servers.map((row) => shareOf(row, workload)));
    const bars = servers.map((row, place) => {
      const share = shareOf(row, workload);
      const y = top + 14 + place * BAR;
      const width = Math.round((share / most) * (WIDTH - LEFT - 60));
      const colour = row === "Portico" ? "#0f766e" : "#94a3b8";
      return (
        `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${row}</text>` +
        `<rect x="${LEFT}" y="${y + 1}" width="${width}" height="${BAR - 4}" fill="${colour}"/>` +
        `<text x="${LEFT + width + 6}" y="${y + 12}">${share.toFixed(2)}</text>`
      );
    });
    return `<text x="12" y="${top}" font-weight="bold">${title}, capacity per core against graphql-js 16</text>\n${bars.join("\n")}`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#374151">\n` +
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>\n${charts.join("\n")}\n</svg>\n`
  );
}
