import { NOTES } from "./soak-settings.ts";
import { uploadForm, uploadHeaders } from "./upload-form.ts";
import { type Action, type Answer, pick } from "./world.ts";

const KEEP = "mutation ($file: Upload!) { keep(file: $file) }";
/** As many documents as there are clients of an application: each is prepared once. */
const VARIANTS = 60;

/** What goes well. */
export const goodRequests: readonly Action[] = [
  {
    name: "pages by cursor",
    weight: 12,
    async run(world) {
      let path = "/notes?page_size=20";
      for (let pages = 0; pages < 3; pages++) {
        const { pagination } = JSON.parse((await world.ask({ path }, 200)).text) as Page;
        if (pagination.links.next === undefined) return;
        path = new URL(pagination.links.next).pathname + new URL(pagination.links.next).search;
      }
    },
  },
  {
    name: "query with a loader",
    weight: 15,
    async run(world) {
      const alias = `a${Math.floor(Math.random() * VARIANTS)}`;
      const answer = await world.graph({
        query: `query Notes { ${alias}: notes(limit: 15) { id text author { name } } }`,
      });
      expectData(answer);
    },
  },
  {
    name: "query by GET",
    weight: 5,
    async run(world) {
      const query = new URLSearchParams({ query: "{ notes(limit: 3) { text } }" });
      expectData(await world.ask({ path: `/graphql?${query}` }, 200));
    },
  },
  {
    name: "connection",
    weight: 6,
    async run(world) {
      const query =
        "query Newest($after: String) { newest(first: 10, after: $after) { nodes { id author { name } } pageInfo { endCursor } } }";
      const first = expectData(await world.graph({ query })) as { newest: { pageInfo: { endCursor: string } } };
      expectData(await world.graph({ query, variables: { after: first.newest.pageInfo.endCursor } }));
    },
  },
  {
    name: "batch",
    weight: 5,
    async run(world) {
      const one = { query: "{ notes(limit: 5) { text author { name } } }" };
      const answer = await world.graph([one, { query: "{ broken }" }, { query: "{ me }" }]);
      if ((JSON.parse(answer.text) as unknown[]).length !== 3) throw new Error(`a batch of three: ${answer.text}`);
    },
  },
  {
    name: "mutation in a transaction",
    weight: 8,
    async run(world) {
      const { headers } = await world.signedIn();
      const variables = { id: `note${Math.floor(Math.random() * NOTES)}`, text: `rewritten ${Math.random()}` };
      const query = "mutation Rewrite($id: ID!, $text: String!) { rewrite(id: $id, text: $text) { text } }";
      expectData(await world.graph({ query, variables }, { headers }));
    },
  },
  {
    name: "mutation that fails",
    weight: 3,
    async run(world) {
      const { headers } = await world.signedIn();
      const { text } = await world.graph({ query: 'mutation { rewriteAndFail(id: "note1") { text } }' }, { headers });
      if (!text.includes("Unexpected error")) throw new Error(`the error is not masked: ${text}`);
    },
  },
  {
    name: "upload",
    weight: 4,
    async run(world) {
      const bytes = pick([100, 20_000, 200_000, 800_000]);
      const headers = { ...uploadHeaders, "graphql-require-preflight": "1" };
      const { text } = await world.graph({}, { headers, body: uploadForm(KEEP, bytes) });
      if (!text.includes(`{"keep":${bytes}}`)) throw new Error(`an upload of ${bytes} bytes: ${text}`);
    },
  },
  {
    name: "gated route",
    weight: 8,
    async run(world) {
      const { person, headers } = await world.signedIn();
      const { text } = await world.ask({ path: "/private", headers }, 200);
      if (!text.includes(person.name)) throw new Error(`${person.name} is taken for ${text}`);
    },
  },
  {
    name: "body by a schema",
    weight: 4,
    run: async (world) => void (await world.ask({ method: "POST", path: "/small", body: { text: "hello" } }, 200)),
  },
  { name: "stream", weight: 1, run: async (world) => void (await world.ask({ path: "/stream" }, 200)) },
  { name: "readiness", weight: 1, run: async (world) => void (await world.ask({ path: "/readyz" }, 200)) },
];

interface Page {
  readonly pagination: { readonly links: { readonly next?: string } };
}

function expectData({ text }: Answer): unknown {
  const { data, errors } = JSON.parse(text) as { readonly data?: unknown; readonly errors?: unknown };
  if (data === undefined || data === null || errors !== undefined) throw new Error(`no data: ${text.slice(0, 300)}`);
  return data;
}
