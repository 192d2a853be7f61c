import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTENT_TYPE, form, oneFile } from "../uploads/multipart-form.ts";
import { type Answer, type Endpoint, Section } from "./harness.ts";

const section = new Section();
let endpoint: Endpoint;
let uploads: Endpoint;
let listing: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
  uploads = await section.serve({ graph: { uploads: { enabled: true } } });
  listing = await section.serve({ app: { origins: ["https://shop.example"] } });
});
afterAll(() => section.close());

type Header = readonly [name: string, value: string];
const EVIL: Header = ["origin", "https://evil.example"];
const CROSS_SITE: Header = ["sec-fetch-site", "cross-site"];
const REFUSED = { status: 403, code: "CROSS_SITE_REFUSED" };
const LOGGED_IN = { status: 200, data: { login: false } };

describe("D. Forgery and origin", () => {
  it("[graphql:D1] a form of a foreign origin is 403", async () => {
    expect(await urlencoded(endpoint, [EVIL])).toMatchObject(REFUSED);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:D2] a form of the origin null is 403", async () => {
    expect(await urlencoded(endpoint, [["origin", "null"]])).toMatchObject(REFUSED);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:D3] a form without an origin that comes from another site is 403", async () => {
    expect(await urlencoded(endpoint, [CROSS_SITE])).toMatchObject(REFUSED);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:D4] a form of a sibling sub-domain is 403 unless its origin is listed", async () => {
    const sameSite: Header = ["sec-fetch-site", "same-site"];

    expect(await urlencoded(endpoint, [sameSite])).toMatchObject(REFUSED);
    expect(await urlencoded(listing, [sameSite, ["origin", "https://blog.example"]])).toMatchObject(REFUSED);
    expect(await urlencoded(listing, [sameSite, ["origin", "https://shop.example"]])).toMatchObject(LOGGED_IN);
  });

  it("[graphql:D5] a form of our own origin is accepted", async () => {
    const own: Header = ["origin", "http://127.0.0.1"];

    expect(await urlencoded(endpoint, [["sec-fetch-site", "same-origin"]])).toMatchObject(LOGGED_IN);
    expect(await urlencoded(endpoint, [own, ["sec-fetch-site", "same-origin"]])).toMatchObject(LOGGED_IN);
    expect(await urlencoded(endpoint, [own])).toMatchObject(LOGGED_IN);
  });

  it("[graphql:D6] an upload of a foreign origin is 403", async () => {
    for (const headers of [[EVIL], [CROSS_SITE], [EVIL, CROSS_SITE]]) {
      expect(await multipart(uploads, headers)).toMatchObject(REFUSED);
      expect(uploads.ran).toEqual({});
    }
  });

  it("[graphql:D7] an upload of a foreign origin with a header that needs a preflight is accepted", async () => {
    for (const name of ["graphql-require-preflight", "apollo-require-preflight"])
      expect(await multipart(uploads, [EVIL, CROSS_SITE, [name, "1"]])).toMatchObject({ status: 200, errors: [] });
  });

  it("[graphql:D8] that header without a value is ignored", async () => {
    for (const name of ["graphql-require-preflight", "apollo-require-preflight"]) {
      expect(await multipart(uploads, [EVIL, [name, ""]])).toMatchObject(REFUSED);
      expect(await multipart(uploads, [EVIL, [name, "  "]])).toMatchObject(REFUSED);
      expect(uploads.ran).toEqual({});
    }
  });

  it("[graphql:D9] a multipart type that names JSON is multipart", async () => {
    const type = "multipart/form-data; boundary=x; application/json";
    const ask = (on: Endpoint): Promise<Answer> =>
      on.ask({ headers: [["content-type", type], EVIL], body: '{"query":"mutation{login}"}' });

    expect(await ask(endpoint)).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    expect(await ask(uploads)).toMatchObject(REFUSED);
    expect([endpoint.ran, uploads.ran]).toEqual([{}, {}]);
  });

  it("[graphql:D10] a request that no browser sent is accepted", async () => {
    expect(await urlencoded(endpoint, [])).toMatchObject(LOGGED_IN);
    expect(await multipart(uploads, [])).toMatchObject({ status: 200, errors: [] });
    expect(await endpoint.get({ query: "{hello}" })).toMatchObject({ status: 200 });
  });

  it("[graphql:D14] a GET from the address bar or of a listed origin is accepted", async () => {
    expect(await urlencoded(endpoint, [["sec-fetch-site", "none"]])).toMatchObject(LOGGED_IN);
    expect(await urlencoded(listing, [CROSS_SITE, ["origin", "https://shop.example"]])).toMatchObject(LOGGED_IN);
    expect(await urlencoded(listing, [CROSS_SITE, EVIL])).toMatchObject(REFUSED);
  });

  it("is checked after the media types and before the document", async () => {
    const headers = [EVIL, ["accept", "application/xml"]] as const;

    expect((await endpoint.ask({ method: "PUT", headers, body: "x" }, { operations: 0 })).status).toBe(405);
    expect((await endpoint.ask({ headers: [...headers, ["content-type", "text/plain"]], body: "x" })).status).toBe(415);
    expect((await urlencoded(endpoint, headers)).status).toBe(406);
    expect((await endpoint.get({ query: "mutation{login}" }, [EVIL])).status).toBe(403);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const urlencoded = (on: Endpoint, headers: readonly Header[]): Promise<Answer> =>
  on.ask({
    headers: [["content-type", "application/x-www-form-urlencoded"], ...headers],
    body: "query=mutation{login}",
  });

const multipart = (on: Endpoint, headers: readonly Header[]): Promise<Answer> =>
  on.ask({ headers: [["content-type", CONTENT_TYPE], ...headers], body: form(oneFile()) });
