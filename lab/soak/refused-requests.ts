import { uploadForm, uploadHeaders } from "./upload-form.ts";
import { type Action, type Ask, pick, type World } from "./world.ts";

/** What is refused, each with the status that it is refused by. */
const refusals: readonly (readonly [name: string, status: number, ask: Ask])[] = [
  ["no credential", 401, { path: "/private" }],
  ["a token that is none", 401, { path: "/private", headers: { authorization: "Bearer a.b.c" } }],
  ["a key that is none", 401, { path: "/private", headers: { "x-api-key": "pk_nothing" } }],
  ["a cookie that is none", 401, { path: "/private", headers: { cookie: "__Host-portico_session=forged.value" } }],
  ["no such path", 404, { path: "/nowhere" }],
  ["another method", 405, { method: "DELETE", path: "/notes" }],
  ["a cursor that was tampered with", 400, { path: "/notes?cursor=bm90LWEtY3Vyc29y" }],
  ["too large a body", 413, { method: "POST", path: "/small", body: { text: "x".repeat(4_000) } }],
  ["a body that does not fit", 422, { method: "POST", path: "/small", body: { text: 1 } }],
  ["broken JSON", 400, json("/small", '{"text":')],
  ["broken JSON of an operation", 400, json("/graphql", '{"query":"{ notes')],
  ["too large an operation", 413, operation(`{ notes { text } } #${"x".repeat(70_000)}`)],
  ["no operation", 400, { method: "POST", path: "/graphql", body: {} }],
  ["a document that does not parse", 400, operation("query { notes( { text }")],
  ["a field that is not there", 400, operation("{ nothing }")],
  ["a variable that does not fit", 400, operation("query ($n: Int!) { notes(limit: $n) { id } }", { n: "many" })],
  ["too deep a document", 400, operation(`{ notes { ${"next { ".repeat(12)}id${" }".repeat(12)} } }`)],
  ["too many aliases", 400, operation(`{ ${Array.from({ length: 40 }, (_, n) => `a${n}: me`).join(" ")} }`)],
  [
    "too many in a batch",
    400,
    { method: "POST", path: "/graphql", body: Array.from({ length: 5 }, () => ({ query: "{ me }" })) },
  ],
  ["a subscription without a stream", 400, operation("subscription { ticks }")],
  ["a mutation by GET", 405, { path: `/graphql?query=${encodeURIComponent("mutation { rewrite }")}` }],
  [
    "another media type",
    415,
    { method: "POST", path: "/graphql", headers: { "content-type": "text/plain" }, body: "x" },
  ],
  [
    "a forged form",
    403,
    {
      method: "POST",
      path: "/graphql",
      headers: { ...uploadHeaders, origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" },
      body: uploadForm("mutation ($file: Upload!) { keep(file: $file) }", 10),
    },
  ],
];

/** What is refused, and what goes on as if nothing had been. */
export const refusedRequests: readonly Action[] = [
  {
    name: "refused",
    weight: 20,
    async run(world) {
      const [name, status, ask] = pick(refusals);
      try {
        await world.ask(ask, status);
      } catch (error) {
        // A body that is not read to its end may break the connection off before the answer is read.
        if (!isBrokenOff(error) || ask.body === undefined) throw new Error(name, { cause: error });
        world.note(0);
      }
    },
  },
  {
    name: "not permitted",
    weight: 3,
    async run(world) {
      const { headers } = await world.signedIn();
      await world.ask({ path: "/forbidden", headers }, 403);
      await world.graph({ query: "{ notes(limit: 1) { secret } }" }, { headers });
    },
  },
  {
    name: "too often",
    weight: 3,
    async run(world) {
      const headers = { "x-forwarded-for": `10.4.0.${Math.floor(Math.random() * 3)}` };
      await world.ask({ path: "/limited", headers }, 200, 429);
    },
  },
  {
    name: "too large an upload",
    weight: 1,
    async run(world) {
      const body = uploadForm("mutation ($file: Upload!) { keep(file: $file) }", 1_500_000);
      await refusedOrBroken(world, { method: "POST", path: "/graphql", headers: uploadHeaders, body }, 413);
    },
  },
  {
    name: "wrong password",
    weight: 0.3,
    async run(world) {
      const { name, address } = pick(world.targets);
      const headers = { "x-forwarded-for": address };
      const body = { identifier: name, password: "not the password" };
      await world.ask({ method: "POST", path: "/account/login", headers, body }, 401, 429);
    },
  },
];

async function refusedOrBroken(world: World, ask: Ask, status: number): Promise<void> {
  try {
    await world.ask(ask, status);
  } catch (error) {
    if (!isBrokenOff(error)) throw error;
    world.note(0);
  }
}

function isBrokenOff(error: unknown): boolean {
  const { cause } = error as Error;
  return ["ECONNRESET", "EPIPE"].includes(String((cause as NodeJS.ErrnoException | undefined)?.code));
}

function operation(query: string, variables: object = {}): Ask {
  return { method: "POST", path: "/graphql", body: { query, variables } };
}

function json(path: string, body: string): Ask {
  return { method: "POST", path, headers: { "content-type": "application/json" }, body };
}
