import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runOnTerminal, runPortico } from "../cli/run-portico.ts";

const config = ["--config", join(import.meta.dirname, "fixtures/gates.config.ts")];

const cases = [
  {
    args: ["audit"],
    shows:
      /^PLACE +GATE +ANONYMOUS +SIGNED IN +WITH PERMISSION\n[^]*^GET \/both +permission a and a(?: function)? +no +no +a \+ b: yes$/m,
    data: { warnings: [], table: expect.arrayContaining([expect.objectContaining({ place: "GET /both" })]) },
  },
  {
    args: ["why", "anonymous", "Query.note"],
    shows: /^query Query\.note\n {2}no: signed in\nobjects of Query\.note\n {2}no: rule note\.own$/m,
    data: { user: null, traces: [expect.objectContaining({ place: "Query.note" }), expect.anything()] },
  },
  {
    args: ["why", "anonymous", "GET /by-path/7"],
    shows: /^route GET \/by-path\/:id\n/m,
    data: { user: null, traces: [expect.objectContaining({ place: "GET /by-path/:id" })] },
  },
  {
    args: ["who", "GET", "/function"],
    shows: /^route GET \/function: signed in, a function\n {2}anonymous: no\n {2}signed in: no\n {2}with edit: yes$/m,
    data: { places: [expect.objectContaining({ place: "GET /function", grants: ["edit: yes"], roles: [] })] },
  },
];

// `script` of util-linux opens the terminal.
describe.skipIf(process.platform !== "linux")("in a process of its own", () => {
  it.each(cases)("portico $args.0 prints text on a terminal, and JSON", async ({ args, shows, data }) => {
    const shown = await runOnTerminal([...args, ...config]);
    const { code, out } = await runPortico([...args, ...config, "--json"]);

    expect(shown.out).toMatch(shows);
    expect([shown.code, code]).toEqual([0, 0]);
    expect(JSON.parse(out)).toEqual(data);
  });
});
