import { describe, expect, it } from "vitest";
import { compileSnippets, type Snippet } from "../../scripts/snippets/snippets.ts";

const HEAD = `import { Depend, type Gate, isEqual, PorticoApp, Router, rule } from "portico";
import { z } from "zod";
const app = new PorticoApp();
declare const gate: Gate<true>;
const shelf = (): Map<string, number> => new Map();
`;

/** The common mistakes, and the words that the compiler must find for them. */
const mistakes: Readonly<Record<string, readonly [code: string, message: string]>> = {
  "a misspelt option": [
    `app.get("/", { auth: gate, parms: {} }, () => 1);`,
    "'parms' does not exist in type 'RouteOptions<",
  ],
  "a misspelt option where nothing else is right": [
    `app.get("/", { auht: gate }, () => 1);`,
    "'auht' does not exist in type 'RouteOptions<",
  ],
  "an undeclared parameter": [
    `app.get("/", { params: { shelf: Depend(shelf) } }, ({ shelv }) => shelv);`,
    "Property 'shelv' does not exist on type",
  ],
  "a wrong path parameter": [
    `app.get("/books/:id", ({ path }) => path.book);`,
    "Property 'book' does not exist on type '{ readonly id: string; }'",
  ],
  "a wrong answer": [
    `app.get("/", { response: z.object({ title: z.string() }) }, () => ({ title: 1 }));`,
    "Type 'number' is not assignable to type 'string'",
  ],
  "a reserved name": [
    `app.get("/", { params: { user: Depend(shelf) } }, () => 1);`,
    `is not assignable to type '"every handler already has this name: choose another one"'`,
  ],
  "a misspelt option of the app": [`new PorticoApp({ orgins: [] });`, "Did you mean to write 'origins'?"],
  "a gate that is none": [
    `app.get("/", { auth: "jwt" }, () => 1);`,
    "Type 'string' is not assignable to type 'RouteAuth<",
  ],
  "a rule on a route": [
    `app.get("/", { auth: rule<{ id: string }>({ name: "x", allows: () => true }) }, () => 1);`,
    "a rule decides about an object: call ctx.authorize(rule, object) in the handler",
  ],
  "an unknown column in a rule": [
    `rule<{ id: string }>({ name: "x", allows: () => true, where: () => isEqual("owner", "") });`,
    `Type '"owner"' is not assignable to type '"id"'`,
  ],
  "a gate function that compares nothing": [
    `app.get("/", { auth: (user) => user.identity }, () => 1);`,
    "Type 'string' is not assignable to type 'MaybePromise<boolean>'",
  ],
};

describe("the compiler's message", () => {
  it("is readable for the common mistakes", async () => {
    const snippets = Object.entries(mistakes).map(
      ([title, [code]]): Snippet => ({
        file: `messages/${title.replaceAll(" ", "-")}`,
        line: 1,
        language: "ts",
        code: HEAD + code,
      }),
    );

    const faults = await compileSnippets("messages", snippets);

    // What continues a message is indented below it.
    const messages = faults.reduce<string[]>(
      (all, line) => (line.startsWith(" ") ? [...all.slice(0, -1), `${all.at(-1)}\n${line}`] : [...all, line]),
      [],
    );
    for (const [title, [, message]] of Object.entries(mistakes)) {
      const mine = messages.filter((fault) => fault.startsWith(`messages/${title.replaceAll(" ", "-")}:`));
      expect(mine.join("\n"), title).toContain(message);
    }
  });
});
