import { ConfigurationError, type Credential, identify, PorticoApp } from "portico";
import { field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { propertySeed, repeatedBy } from "../../lab/seeds/property-seed.ts";
import { answersBySignIn, answerText, type SignInAnswer } from "../../src/audit/stand-ins/ask-stand-in.ts";
import { UNNAMED_METHOD } from "../../src/audit/stand-ins/sign-in.ts";
import { traceGate } from "../../src/audit/stand-ins/trace-gate.ts";
import type { AccessEntry } from "../../src/audit/surface/access-entry.ts";
import { surfaceOf } from "../../src/audit/surface/surface-of.ts";
import { type AccessRow, accessRow, accessTable, roleAccess } from "../../src/audit/table/access-table.ts";
import { allGates } from "../../src/kernel/access/gate-node.ts";
import { Chance } from "../graphql/execute/chance.ts";
import {
  type Draw,
  Member,
  NAMES,
  PERMISSIONS,
  pick,
  randomGate,
  randomRule,
  SCOPES,
  type Thing,
} from "./random-gates.ts";

/** A caller, as the server sees it. */
interface Caller {
  readonly user: Member | null;
  readonly auth: string;
  readonly credential: Credential | undefined;
  readonly office: string;
}

/** A place with a gate of its own, and how a caller gets there. */
interface Target {
  readonly place: string;
  /** Whether the server lets the caller in to this thing. */
  enter(
    client: ReturnType<typeof testClient>,
    headers: Readonly<Record<string, string>>,
    thing: Thing,
  ): Promise<boolean>;
}

/** Gates ask for a sign-in within half an hour, so the test may take as long. */
const LOADED = Date.now();
const isLong = process.env["PORTICO_LONG"] === "1";
const [GATES, TRIPLES] = [40, 50];
/** 2,000 triples, or 20,000 at night. */
const ROUNDS = isLong ? 10 : 1;
const seed = propertySeed();

it("who, why, the access table and the server never contradict each other", { timeout: 600_000 }, async () => {
  const chance = new Chance(`access ${seed}`);
  const draw: Draw = (bound) => chance.below(bound);
  const faults: string[] = [];
  const counts = { triples: 0, certain: 0, bySignIn: 0, entered: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const callers = Array.from({ length: 40 }, () => callerOf(draw));
    const { app, targets } = appWith(draw, callers);
    const table = new Map((await accessTable(app, Member)).map((row) => [row.place, row]));
    const surface = new Map((await surfaceOf(app)).map((entry) => [entry.place, entry]));
    const client = testClient(app);
    for (const target of targets) {
      const entry = surface.get(target.place) as AccessEntry;
      const row = await accessRow(entry, Member);
      expect(row).toEqual(table.get(target.place));
      const said = new Map<Caller, Claims>();
      for (let times = 0; times < TRIPLES; times++) {
        const at = draw(callers.length);
        const caller = callers[at] as Caller;
        const thing: Thing = { owner: pick(draw, NAMES), ...(draw(2) === 0 ? {} : { shared: "yes" }) };
        const headers = { "x-caller": String(at), "x-office": caller.office };
        const isIn = await target.enter(client, headers, thing);
        const claims = said.get(caller) ?? (await claimsOf(entry, row, caller));
        said.set(caller, claims);
        counts.triples++;
        if (isIn) counts.entered++;
        if (Object.values(claims).some(isCertain)) counts.certain++;
        if (isCertain(claims["signIn"]) && !isCertain(claims["why"])) counts.bySignIn++;
        const wrong = Object.entries(claims).filter(([, word]) => isCertain(word) && (word === "yes") !== isIn);
        for (const [tool, word] of wrong)
          faults.push(
            `${target.place} (${row.gate}): ${tool} says ${word}, the server ${isIn ? "lets in" : "refuses"} ${JSON.stringify({ ...caller, thing })}`,
          );
      }
    }
    await app.close();
  }

  expect(faults.slice(0, 5), repeatedBy(seed)).toEqual([]);
  expect(counts.triples).toBe(ROUNDS * GATES * TRIPLES);
  // The tools say something, and the server does both.
  expect(counts.certain).toBeGreaterThan(counts.triples / 5);
  expect(counts.bySignIn).toBeGreaterThan(counts.triples / 20);
  expect(counts.entered).toBeGreaterThan(counts.triples / 10);
  expect(counts.triples - counts.entered).toBeGreaterThan(counts.triples / 10);
  process.stdout.write(`access: ${JSON.stringify(counts)}
`);
});

const isCertain = (said: string | undefined): boolean => said === "yes" || said === "no";

/** What each tool says about a caller at a place. */
type Claims = Readonly<Record<string, string | undefined>>;

async function claimsOf(entry: AccessEntry, row: AccessRow, caller: Caller): Promise<Claims> {
  const { user } = caller;
  const whole = allGates([entry.gate, entry.objects].filter((gate) => gate !== null && gate !== undefined));
  const why = answerText((await traceGate(whole, user)).answer);
  if (user === null) return { why, table: row.anonymous };
  const signIn = bySignIn(await answersBySignIn(whole, user), caller);
  const permissions = permissionsOf(user);
  const [role] = await roleAccess(entry, [{ name: "role", permissions }], Member);
  const grant = row.grants.find((text) => text.startsWith(`${permissions.join(" + ")}: `));
  const table = permissions.length > 1 ? grant?.split(": ")[1] : (grant?.split(": ")[1] ?? row.signedIn);
  return { why, signIn, who: role?.access ?? row.signedIn, table };
}

/** What `portico why` says about the sign-in of the caller: by its method, its level and its age. */
function bySignIn(answers: readonly SignInAnswer[], { auth, credential }: Caller): string | undefined {
  const isRecent = (at: number | undefined): boolean | null => (at === undefined ? null : at > 1_000_000);
  const found = answers.filter(({ scope, credential: known }) => {
    if (scope !== null && scope !== auth && !(scope === UNNAMED_METHOD && !answers.some((one) => one.scope === auth)))
      return false;
    if (known === null) return true;
    if (known.facts === undefined || credential === undefined) return known.facts === credential;
    return known.facts.level === credential.level && isRecent(known.facts.signedInAt) === ageOf(credential);
  });
  const [only, ...others] = found;
  return only === undefined || others.length > 0 ? undefined : answerText(only.answer);
}

/** Whether the sign-in is recent; `null` if its time is unknown. An old one was an hour before this file was loaded. */
const ageOf = ({ signedInAt }: Credential): boolean | null => (signedInAt === undefined ? null : signedInAt >= LOADED);

const permissionsOf = (user: Member): readonly string[] => PERMISSIONS.filter((name) => user.hasPermission(name));

function callerOf(draw: Draw): Caller {
  const now = LOADED;
  const permissions = PERMISSIONS.filter(() => draw(3) === 0);
  const level = draw(2) === 0 ? {} : { level: "mfa" as const };
  const signedInAt = draw(3);
  const age = signedInAt === 0 ? {} : { signedInAt: signedInAt === 1 ? now : now - 3_600_000 };
  return {
    user: draw(5) === 0 ? null : new Member(pick(draw, NAMES), permissions, pick(draw, ["", "free", "pro"])),
    auth: pick(draw, SCOPES),
    credential:
      draw(4) === 0 ? undefined : { ...level, ...age, ...(draw(2) === 0 ? {} : { claims: { role: "staff" } }) },
    office: pick(draw, ["yes", "no"]),
  };
}

/** Draws again until the gate is one that the application accepts: some combinations have no sign-in method in common. */
function accepted<T>(declare: () => T): T {
  for (;;)
    try {
      return declare();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
    }
}

function appWith(draw: Draw, callers: readonly Caller[]) {
  const app = new PorticoApp({ logger: false, openapi: false, health: false }).use(async (ctx, next) => {
    const { user, auth, credential } = callers[Number(ctx.request.headers["x-caller"])] as Caller;
    if (user !== null) identify(ctx, { user, auth: auth as never, ...(credential && { credential }) });
    await next();
  });
  const query: Record<string, unknown> = {};
  const targets = Array.from({ length: GATES }, (_, at): Target => {
    const kind = at % 4;
    if (kind === 0)
      return routeTarget(
        app,
        at,
        accepted(() => randomGate(draw)),
      );
    if (kind === 1) return accepted(() => fieldTarget(query, at, randomGate(draw)));
    if (kind === 2) return accepted(() => typeTarget(query, at, randomRule(draw)));
    return accepted(() => listTarget(app, at, randomRule(draw)));
  });
  new Graph(schema({ query: query as never })).mount(app);
  return { app, targets };
}

/** Its schema returns another form of what is sent. */
const path = z.object({ owner: z.string().toLowerCase() });
const shared = z.object({ shared: z.string().toLowerCase().optional() });

function routeTarget(app: PorticoApp, at: number, auth: unknown): Target {
  app.get(`/r${at}/:owner`, { auth: auth as never, path, query: shared }, () => "in");
  return {
    place: `GET /r${at}/:owner`,
    async enter(client, headers, { owner, shared: word }) {
      const suffix = word === undefined ? "" : `?shared=${word.toUpperCase()}`;
      return (await client.get(`/r${at}/${owner.toUpperCase()}${suffix}`, { headers })).status === 200;
    },
  };
}

function fieldTarget(query: Record<string, unknown>, at: number, auth: unknown): Target {
  const params = { owner: t.string, shared: t.nullable(t.string) };
  query[`f${at}`] = field(t.nullable(t.string), { params, auth: auth as never })(() => "in");
  return {
    place: `Query.f${at}`,
    async enter(client, headers, thing) {
      const args = Object.entries(thing).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
      const body = { query: `{ f${at}(${args.join(", ")}) }` };
      const { data } = (await client.post("/graphql", { body, headers })).json() as {
        data: Record<string, unknown> | null;
      };
      return data?.[`f${at}`] === "in";
    },
  };
}

/** The things of types and lists, of which the caller sees some. */
const things: readonly (Thing & { readonly id: string })[] = NAMES.flatMap((owner) => [
  { id: owner, owner },
  { id: `${owner} yes`, owner, shared: "yes" },
]);
const idOf = ({ owner, shared: word }: Thing): string => (word === undefined ? owner : `${owner} ${word}`);

function typeTarget(query: Record<string, unknown>, at: number, auth: unknown): Target {
  const Type: ObjectType<Thing & { readonly id: string }> = object(`T${at}`, { id: t.id }, { auth: auth as never });
  query[`t${at}`] = field(t.nullable(Type), { params: { id: t.string } })(
    ({ id }: { id: string }) => things.find((thing) => thing.id === id) as never,
  );
  return {
    place: `T${at}`,
    async enter(client, headers, thing) {
      const body = { query: `{ t${at}(id: ${JSON.stringify(idOf(thing))}) { id } }` };
      const { data } = (await client.post("/graphql", { body, headers })).json() as {
        data: Record<string, unknown> | null;
      };
      return data !== null && data[`t${at}`] !== null;
    },
  };
}

function listTarget(app: PorticoApp, at: number, rule: unknown): Target {
  const item = z.object({ id: z.string() });
  app.get(`/l${at}`, { paginated: { strategy: "page_number", item, rule: rule as never } }, ({ response }) =>
    response.paginate([...things], { strategy: "page_number" }),
  );
  return {
    place: `GET /l${at}`,
    async enter(client, headers, thing) {
      const response = await client.get(`/l${at}`, { headers });
      if (response.status !== 200) return false;
      return (response.json() as { items: { id: string }[] }).items.some(({ id }) => id === idOf(thing));
    },
  };
}
