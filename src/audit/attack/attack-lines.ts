import type { AttackReport } from "./attack-report.ts";

const MAX_PLACES = 5;

/** The report as lines for people. */
export function attackLines({ places, tried, differences, unreached, notes, gaps }: AttackReport): readonly string[] {
  const missed = unreached.reduce((sum, { cells }) => sum + cells, 0);
  return [
    ...differences.map(({ sentence }) => `differs: ${sentence}`),
    ...unreached.map(
      ({ reason, cells, places: where }) => `not checked: ${requests(cells)} (${reason}), ${listed(where)}`,
    ),
    ...notes.map((note) => `note: ${note}`),
    ...gaps.map((gap) => `not checked: ${gap}`),
    `attack: ${places} places, ${requests(tried)}, ${differences.length} differ from the declaration, ${missed} not checked`,
  ];
}

function requests(count: number): string {
  return count === 1 ? "1 request" : `${count} requests`;
}

function listed(places: readonly string[]): string {
  const shown = places.slice(0, MAX_PLACES).join(", ");
  return places.length > MAX_PLACES ? `${shown} and ${places.length - MAX_PLACES} more` : shown;
}
