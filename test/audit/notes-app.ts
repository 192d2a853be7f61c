import type { GraphQLSchema } from "graphql";
import { PorticoApp, type PorticoAppOptions, rule, some, topic } from "portico";
import {
  APIKeyAuthBackend,
  type AuthenticationBackend,
  AuthenticationMiddleware,
  JWTAuthBackend,
  type JWTAuthOptions,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  type UserModel,
  useAuth,
} from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";

interface NoteRow {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

const NOTES: readonly NoteRow[] = [
  { id: "1", author: "ann", text: "milk" },
  { id: "2", author: "bob", text: "bread" },
];

export const SECRET = "a secret of the notes, long enough for HS256";

/** What a test changes about the application, to plant a fault. */
export interface Plant {
  readonly userModel?: UserModel<any>;
  /** Replaces the backends. */
  readonly backends?: readonly AuthenticationBackend[];
  /** Runs before the authentication is added. */
  readonly early?: (app: PorticoApp) => void;
  /** Runs after the authentication is added, before the endpoint. */
  readonly before?: (app: PorticoApp) => void;
  /** Runs after everything else. */
  readonly after?: (app: PorticoApp, notes: GraphQLSchema) => void;
  readonly options?: PorticoAppOptions;
  /** What was executed. */
  readonly ran?: string[];
}

export const jwtOptions: JWTAuthOptions = { secretKey: SECRET, identifier: "sub", audience: "notes" };

/** A small application with every kind of place, and no fault. */
export function notesApp({ userModel, backends, early, before, after, options, ran = [] }: Plant = {}): PorticoApp {
  const app = new PorticoApp({ logger: false, ...options });
  early?.(app);
  app.use(new SessionMiddleware({ secret: SECRET }));
  const backend = backends ?? [new JWTAuthBackend(jwtOptions), new SessionAuthBackend(), new APIKeyAuthBackend()];
  app.use(new AuthenticationMiddleware({ userModel: userModel ?? SimpleUser, backend }));
  before?.(app);
  const notes = notesSchema(ran);
  new Graph(notes, {
    auth: true,
    uploads: { enabled: true, contentTypes: ["image/*"] },
    subscriptions: { operations: true },
  }).mount(app);
  app.get("/open", () => "open");
  app.get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
  app.get("/notes/:id", { auth: useAuth({ permissions: ["read:notes"] }) }, ({ path }) => ({ id: path.id }));
  app.get("/hello", { auth: useAuth({ required: false }) }, ({ user }) => `hello ${user.displayName}`);
  app.get("/keys", { auth: useAuth({ scopes: ["session"], freshSeconds: 60 }) }, () => []);
  app.get("/own/:name", { auth: (user, { path }) => user.identity === path["name"] }, () => "own");
  app.delete("/notes/:id", { auth: useAuth({ permissions: ["write:notes"] }) }, () => {
    ran.push("DELETE /notes/:id");
  });
  app.socket("/live", { auth: useAuth({ permissions: ["read:notes"] }) }, ({ socket }) => socket.close());
  after?.(app, notes);
  return app;
}

const written = topic<string>("notes.written");

function notesSchema(ran: string[]): GraphQLSchema {
  const visibleNotes = some(
    useAuth({ permissions: ["read:notes"] }),
    rule<NoteRow>({ name: "note.own", allows: (user, note) => note.author === user.identity }),
  );
  const Note: ObjectType<NoteRow> = object(
    "Note",
    {
      id: t.id,
      text: t.string,
      author: field(t.nullable(t.string), { auth: useAuth({ permissions: ["read:authors"] }) }),
    },
    { auth: visibleNotes },
  );
  const writes = useAuth({ permissions: ["write:notes"] });
  return schema({
    query: {
      notes: field(t.list(Note))(() => NOTES),
      secret: field(t.nullable(t.string), { auth: useAuth({ permissions: ["read:notes", "read:secrets"] }) })(
        () => "42",
      ),
      keyed: field(t.nullable(t.int), { auth: useAuth({ scopes: ["apikey"] }) })(() => 1),
    },
    mutation: {
      illustrate: mutation(t.boolean, { params: { id: t.id, image: t.upload }, auth: writes })(() => {
        ran.push("illustrate");
        return true;
      }),
      write: mutation(t.boolean, { params: { text: t.string }, auth: writes })(() => {
        ran.push("write");
        return true;
      }),
    },
    subscription: {
      written: subscription(t.string, { auth: useAuth({ permissions: ["read:notes"] }) })(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(written);
      }),
    },
  });
}
