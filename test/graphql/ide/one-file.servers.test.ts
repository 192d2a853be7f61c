import { expect, it } from "vitest";
import { runBundled } from "../../run-bundled.ts";

const APP = `
import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
const answer = async (ide) => {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { ide }).mount(app);
  const { status, body } = await app.inject({ url: "/graphql", headers: { accept: "text/html" } });
  return [status, body.toString()];
};
console.log(JSON.stringify({ bundled: await answer(true), cdn: await answer({ assets: "cdn" }) }));
`;

it("in an application that was bundled into one file, the page says how to enable the explorer", async () => {
  const { bundled, cdn } = (await runBundled(APP)) as Record<"bundled" | "cdn", [number, string]>;

  expect(bundled[0]).toBe(200);
  expect(bundled[1]).toContain("GraphiQL is not part of this build");
  expect(bundled[1]).toContain('<code>ide: { assets: "cdn" }</code>');
  expect(cdn[1]).toContain("https://cdn.jsdelivr.net/npm/graphiql@");
});
