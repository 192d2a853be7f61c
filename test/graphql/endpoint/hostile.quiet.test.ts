import { expect, it } from "vitest";
import { allowedMs } from "../../allowed-ms.ts";
import { measuredServer, tell } from "./measured-server.ts";

const repeat = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(" ");

/** Each is another document for each round: what was worked out for one is of no use to the next. */
const documents: Readonly<Record<string, (round: number) => string>> = {
  "10,000 aliases": (round) => `query R${round} { ${repeat(10_000, (n) => `n${n}: hello`)} }`,
  "2^20 fields by fragments": (round) =>
    `query R${round} { ...F0 } ${repeat(20, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F20 on Query { hello }`,
  "nested 5,000 deep": (round) => `query R${round} { ${repeat(5_000, () => "node {")} id ${repeat(5_001, () => "}")}`,
  "20,000 directives": (round) => `query R${round} { hello ${repeat(20_000, () => "@include(if: true)")} }`,
};
const MAX_MS = 20;
const ROUNDS = 9;

it.each(Object.entries(documents))(
  "rejects a document with %s in less than 20 ms of CPU, and blocks no other request for longer",
  async (name, document) => {
    const server = await measuredServer();
    const post = async (query: string) => {
      const answer = await fetch(server.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
      return [answer.status, await answer.json()] as const;
    };
    for (let n = 0; n < 20; n++) await post(`{ hello x${n}: hello }`);

    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      await server.begin();
      const [status, body] = await post(document(round));
      rounds.push(await server.end());
      expect([status, body]).toEqual([
        400,
        { errors: [expect.objectContaining({ message: expect.stringMatching(/limit/) })] },
      ]);
    }

    // The middle and not the last of them: other processes of the machine take their time as well.
    const middle = (values: readonly number[]): number =>
      values.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number;
    const [cpuMs, blockedMs] = [
      middle(rounds.map((figures) => figures.cpuMs)),
      middle(rounds.map((figures) => figures.blockedMs)),
    ];
    tell(`${name}: ${cpuMs.toFixed(1)} ms of CPU, blocked for ${blockedMs.toFixed(1)} ms`);
    expect(cpuMs).toBeLessThan(allowedMs(MAX_MS));
    expect(blockedMs).toBeLessThan(allowedMs(MAX_MS));
  },
);
