import { authorized, NotFound, PorticoApp, rule, some } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser, useAuth } from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { attack } from "../../src/audit/attack/attack.ts";
import { SECRET } from "./notes-app.ts";

// An attack sends hundreds of requests, which share the machine with other tests.
vi.setConfig({ testTimeout: 240_000 });

interface Note {
  readonly id: string;
  readonly author: string;
}
const ownNotes = some(
  useAuth({ permissions: ["read:notes"] }),
  rule<Note>({ name: "note.own", allows: (user, note) => note.author === user.identity }),
);

interface Plant {
  readonly before?: (app: PorticoApp) => void;
  readonly ran?: string[];
}

/** An application whose handlers declare objects, none of which exist. */
function notes({ before, ran = [] }: Plant = {}): PorticoApp {
  const app = new PorticoApp({ logger: false });
  onTestFinished(() => app.close());
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  before?.(app);
  const note = authorized((): Note | undefined => undefined, ownNotes);
  const run = (name: string) => () => {
    ran.push(name);
    return "done";
  };
  app.get("/notes/:id", { auth: true, params: { note } }, run("GET"));
  app.delete("/notes/:id", { params: { note } }, run("DELETE"));
  app.put("/notes/:id", { auth: true, body: z.object({ text: z.string() }), params: { note } }, run("PUT"));
  const NoteType: ObjectType<Note> = object("Note", {
    id: t.id,
    title: field(t.string, { params: { note } })(run("Note.title")),
  });
  new Graph(
    schema({
      query: { note: field(NoteType, { params: { id: t.id, note } })(({ note }) => note) },
      mutation: { change: mutation(t.string, { params: { id: t.id, note }, auth: true })(run("change")) },
    }),
    { auth: true },
  ).mount(app);
  return app;
}

it("asks every handler for an object without an owner, and runs none", async () => {
  const ran: string[] = [];

  const { differences, unreached, places } = await attack(notes({ ran }));

  expect(differences).toEqual([]);
  expect(ran).toEqual([]);
  // Four routes and fields with a gate, the endpoint, and six objects.
  expect(places).toBe(11);
  // The schema of the body refuses the dummy before an object is loaded.
  expect(unreached.map(({ reason, places }) => [reason, places])).toEqual([
    ["415 unsupported_media_type", ["PUT /notes/:id: note"]],
    ["NOT_FOUND at note", ["Note.title: note"]],
  ]);
});

it("finds an exception handler that turns the refusal into a success", async () => {
  const app = notes({
    before: (plain) => plain.addExceptionHandler(NotFound, (_request, response) => response.json({ id: "1" })),
  });

  const { differences } = await attack(app);

  expect([...new Set(differences.map(({ place }) => place))]).toEqual([
    "DELETE /notes/:id: note",
    "GET /notes/:id: note",
  ]);
  expect(differences[0]?.sentence).toMatch(
    /: note: .* is let in \(200\) by HTTP, but the gate must refuse this caller$/,
  );
});
