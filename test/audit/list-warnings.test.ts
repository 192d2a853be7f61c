import { PorticoApp, rule } from "portico";
import { PageNumberPagination } from "portico/pagination";
import { expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { warningsOf } from "../../src/audit/surface/warnings-of.ts";

it("warns of a list whose rule has no where", async () => {
  const app = new PorticoApp({ logger: false });
  onTestFinished(() => app.close());
  const ownNotes = rule<{ owner: string }>({ name: "note.own", allows: (user, note) => note.owner === user.identity });
  const strategy = new PageNumberPagination();
  app.get("/notes", { paginated: { strategy, item: z.object({ id: z.string() }), rule: ownNotes } }, ({ response }) =>
    response.apaginate([], { strategy }),
  );

  expect(await warningsOf(app)).toContainEqual({
    place: "GET /notes",
    sentence: "lists rows of the rule note.own, which has no where: a database cannot apply it",
  });
});
