import { inspect } from "node:util";
import { type ConfigurationError, PorticoApp, Router } from "portico";
import { authentication } from "portico/auth";
import { Graph } from "portico/graphql";
import { describe, expect, it } from "vitest";

const wrongOptions: readonly [name: string, build: () => unknown][] = [
  ["an application", () => new PorticoApp({ timeouts: { requestSeconds: -1 } })],
  ["a route", () => new PorticoApp({ logger: false }).get("books", () => "")],
  ["a list of middleware", () => new Router({ middleware: [1 as never] })],
  ["authentication", () => authentication({} as never)],
  ["a graph", () => new Graph({} as never, {})],
];

describe("an uncaught ConfigurationError", () => {
  it.each(wrongOptions)("of %s shows the line of the application first", (_, build) => {
    const frames = thrownBy(build)
      .stack?.split("\n")
      .filter((line) => line.startsWith("    at "));

    expect(frames?.[0]).toContain(import.meta.filename);
  });

  it("shows its option and its code, but no status and headers of a response", () => {
    const error = thrownBy(() => new PorticoApp({ timeouts: { requestSeconds: -1 } }));
    const shown = inspect(error);

    expect(shown).toContain("ConfigurationError: PorticoApp.timeouts.requestSeconds must be");
    expect(shown.slice(shown.lastIndexOf("{"))).toBe(
      "{\n  code: 'CONFIGURATION_INVALID',\n  option: 'PorticoApp.timeouts.requestSeconds'\n}",
    );
    expect({ status: error.status, headers: error.headers }).toEqual({ status: 500, headers: {} });
  });
});

function thrownBy(build: () => unknown): ConfigurationError {
  try {
    build();
  } catch (error) {
    return error as ConfigurationError;
  }
  throw new Error("nothing was thrown");
}
