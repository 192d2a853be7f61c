import { PorticoApp } from "portico";
import { field, Graph, IDE, schema, t } from "portico/graphql";
import { type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const query = { ok: field(t.boolean)(() => true) };

/** The page of an explorer with these options. */
function explorer(ide: IDE | true): Promise<TestResponse> {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query }), { ide }).mount(app);
  return testClient(app).get("/graphql", { headers: { accept: "text/html" } });
}

describe("a page", () => {
  it("escapes the characters of a text that have a meaning in HTML", async () => {
    const title = `<b title='1' class="2">Tom & Jerry</b> &amp; more`;
    const app = new PorticoApp({ logger: false, title, openapi: true }).get("/", () => "ok");

    const page = (await testClient(app).get("/docs")).text();

    expect(page).toContain(
      "<title>&lt;b title=&#39;1&#39; class=&quot;2&quot;&gt;Tom &amp; Jerry&lt;/b&gt; &amp;amp; more</title>",
    );
    expect(page).not.toContain("<b ");
  });

  it("passes data to its script in an element that the data cannot end", async () => {
    const title = "</script><script>alert(1)</script><!-- & \u2028\u2029";

    const page = (await explorer(new IDE({ assets: "cdn", title }))).text();

    const [, json = ""] = /<script type="application\/json" id="options">(.*)<\/script>\n/.exec(page) ?? [];
    expect(json).toContain(
      String.raw`"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u003c!-- \u0026 \u2028\u2029"`,
    );
    expect(JSON.parse(json)).toMatchObject({ title });
  });

  it("of the explorer loads only what it lists and connects only to its own server", async () => {
    const { headers } = await explorer(true);

    const policy = String(headers["content-security-policy"]);
    expect(policy).toMatch(
      /^default-src 'none'; script-src [^;]+; style-src 'unsafe-inline'; worker-src blob:; img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "private, no-cache",
    });
  });
});
