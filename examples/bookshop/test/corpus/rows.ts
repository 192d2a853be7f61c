/** Why a row of a corpus is not replayed here. */
type Reason = keyof typeof reasons;

const reasons = {
  option: "needs an option that the shop does not set, or is about the construction with one",
  fixture: "needs a field, a handler, a gate or a backend that is made to go wrong, which a shop does not have",
  clock: "needs a clock that is moved",
  fault: "needs a server that is down, a failing write or rows that another version has written",
  load: "needs more requests, or more time, than the rest of the rows together, or measures time",
  signed: "needs values that are signed with the shop's cursor key, which only the framework's own tests make",
  browser: "needs a browser: shop.browser.test.ts and the framework's own tests have one",
  later: "is about something that the framework does not have yet",
} as const;

/**
 * The rows that are left out. Every other row of the three corpora is replayed, which corpus.servers.test.ts checks. If a row
 * has several inputs, those that do not need these conditions are replayed.
 */
const leftOut: Readonly<Record<string, Partial<Record<Reason, string>>>> = {
  graphql: {
    option: "A17 C9 E27 E28 E29 F1 F2 F3 F4 F5 F12 G4 H1 H16 J1 J2 J3 J4 J5 J6 J7 J8",
    fixture: "B18 E24 F6 F7 F8 F9 F10 F11 F13 G6 G8 I13 I17 I22",
    fault: "F16 I20 I21",
    load: "F17 I12",
    browser: "J10 J11",
  },
  auth: {
    option: "003 004 005 019 027 028 038 041 042 060 077 095 130 132 137 160 174 175",
    fixture: "056 066 078 141 171 172 176 177 178 179",
    clock: "070 071 072 089 096 193",
    fault: "083 108 111 113 114 136 191",
    load: "080 099 100 101 103",
    later: "059 119 123 124 125 187 188 189 192",
  },
  pagination: {
    option: "049 060 076 081 082 091 121 122 123 124",
    fixture: "040 041 042 043 051 064 086 088 089 100 101",
    signed: "084 085",
    load: "113 114 119 120",
  },
};

/** Every id of a corpus. */
export const allRows: Readonly<Record<string, readonly string[]>> = {
  graphql: Object.entries({ A: 30, B: 20, C: 12, D: 15, E: 32, F: 17, G: 10, H: 26, I: 22, J: 11 }).flatMap(
    ([section, count]) => Array.from({ length: count }, (_, index) => `${section}${index + 1}`),
  ),
  auth: numbered("AU", 195),
  pagination: numbered("PG", 124),
};

/** The ids that are left out, as written in the corpus. */
export function leftOutOf(corpus: string): readonly string[] {
  const prefix = { auth: "AU-", pagination: "PG-" }[corpus] ?? "";
  return Object.values(leftOut[corpus] ?? {}).flatMap((ids) => ids.split(" ").map((id) => `${prefix}${id}`));
}

function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(3, "0")}`);
}
