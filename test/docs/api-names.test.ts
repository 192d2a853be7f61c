import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const reports = globSync("api/*.md", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
const DURATION =
  /(?:^age|Age|[dD]elay|[dD]uration|[eE]xpires|[eE]xpiry|[iI]dle|[iI]nterval|[lL]ifetime|[pP]eriod|[tT]imeout|[tT]olerance|[tT]tl|[wW]ait|[wW]ithin)$/;
const names = new Set(
  reports.flatMap((text) =>
    [...text.matchAll(/^export (?:abstract )?(?:class|interface|type|enum) (\w+)/gm)].map(([, name = ""]) => name),
  ),
);

it("every duration in the API has its unit in its name", () => {
  const numbers = reports.flatMap((text) =>
    [...text.matchAll(/^ {4}readonly (\w+)\??: number(?: \| "never")?;/gm)].map(([, name = ""]) => name),
  );
  const durations = numbers.filter((name) => DURATION.test(name));

  expect(numbers.length).toBeGreaterThan(100);
  // As in the header: a clause names it.
  expect([...new Set(durations)]).toEqual(["maxAge"]);
});

it("every duration in the API is in seconds, except those in stores and the limits of load, most of which are shorter", () => {
  const inMs = reports.flatMap((text) =>
    [...text.matchAll(/^ +(?:readonly )?(\w+Ms)\??:/gm)].map(([, name = ""]) => name),
  );

  expect([...new Set(inMs)].toSorted()).toEqual(["maxEventLoopDelayMs", "maxWaitMs", "resetAfterMs"]);
});

it("every acronym in the name of a type has capital letters, except Http", () => {
  expect(names.size).toBeGreaterThan(300);
  expect(
    [...names].filter((name) => /(?:Api|Csrf|Cors|Ide|Json|Jwks|Jwt|Oidc|Sql|Tls|Totp)(?![a-z])/.test(name)),
  ).toEqual([]);
});
