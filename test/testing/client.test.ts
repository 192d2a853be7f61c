import { PorticoApp } from "portico";
import { type LiveClient, liveClient, type TestClient, testClient } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { overBoth } from "../matrix.ts";

const echo = (): PorticoApp => {
  const app = new PorticoApp({ logger: false });
  for (const method of ["get", "post", "put", "patch", "delete"] as const)
    app[method]("/echo/*", async ({ request, response, query, path }) =>
      response
        .status(202)
        .cookie("a", "1")
        .cookie("b", "2")
        .header("x-method", request.method)
        .json({
          path: path["*"],
          query,
          type: request.headers["content-type"] ?? null,
          agent: request.headers["x-agent"] ?? null,
          body: await request.text(),
        }),
    );
  return app;
};

let live: LiveClient | undefined;
afterEach(async () => {
  await live?.close();
  live = undefined;
});

it("both clients return the same for every method", async () => {
  live = await liveClient(echo());
  const ask = async (client: TestClient): Promise<unknown[]> => {
    const options = { headers: { "X-Agent": "test" }, query: { page: 2, tag: ["a", "b c"] } };
    const answers = [
      await client.get("/echo/x?y=1", options),
      await client.post("/echo/x", { ...options, body: { title: "Emma" } }),
      await client.put("/echo/x", { ...options, body: "text" }),
      await client.patch("/echo/x", { ...options, body: new Uint8Array([104, 105]) }),
      await client.delete("/echo/x", options),
      await client.request("POST", "/echo/x", { headers: { "content-type": "application/vnd.x+json" }, body: [1] }),
      await client.get("/nothing"),
    ];
    return answers.map((answer) => ({
      status: answer.status,
      method: answer.headers["x-method"],
      type: answer.headers["content-type"],
      cookies: answer.cookies,
      body: answer.json(),
    }));
  };

  const overSocket = await ask(live);
  const injected = await ask(testClient(echo()));

  expect(injected).toEqual(overSocket);
  expect(injected.slice(0, 2)).toMatchObject([
    {
      status: 202,
      method: "GET",
      cookies: [expect.stringMatching(/^a=1/), expect.stringMatching(/^b=2/)],
      body: { path: "x", query: { y: "1", page: "2", tag: ["a", "b c"] }, agent: "test", body: "" },
    },
    { method: "POST", body: { type: "application/json", body: '{"title":"Emma"}' } },
  ]);
  expect(injected[5]).toMatchObject({ body: { type: "application/vnd.x+json", body: "[1]" } });
});

describe("a response", () => {
  overBoth("is read as text, as JSON and as bytes, as often as wanted", echo, async (client) => {
    const answer = await client.get("/echo/é");

    expect(answer.text()).toBe(answer.text());
    expect(JSON.parse(answer.text())).toEqual(answer.json());
    expect(Buffer.from(answer.bytes()).toString("utf8")).toBe(answer.text());
  });

  overBoth("joins a header that was sent several times, and has the cookies one by one", echo, async (client) => {
    const answer = await client.get("/echo/x");

    expect(answer.cookies).toHaveLength(2);
    expect(answer.headers["set-cookie"]).toBe(answer.cookies.join(", "));
    expect(answer.headers["x-none"]).toBe(undefined);
  });

  overBoth(
    "that is not JSON throws when it is read as JSON",
    () => new PorticoApp({ logger: false }).get("/", ({ response }) => response.text("no")),
    async (client) => {
      const answer = await client.get("/");

      expect(() => answer.json()).toThrow(SyntaxError);
    },
  );
});

it.each([undefined, "https://shop.example", "https://shop.example/api"])(
  "both clients follow the links of an application with the public URL %s",
  async (publicUrl) => {
    const app = new PorticoApp({ logger: false, ...(publicUrl === undefined ? {} : { publicUrl }) });
    app.get("/numbers", ({ response }) => response.paginate([1, 2, 3], { strategy: "page_number" }));
    live = await liveClient(app);

    for (const client of [testClient(app), live]) {
      const first = (await client.get("/numbers?page_size=2")).json() as NumberPage;
      const second = await client.get(first.pagination.links.next);
      expect(second.json()).toMatchObject({ items: [3] });
    }
  },
);

interface NumberPage {
  readonly pagination: { readonly links: { readonly next: string } };
}

it("testClient needs no port, and runs the start hooks", async () => {
  let starts = 0;
  const app = echo().onStart(() => void starts++);
  const client = testClient(app);

  await client.get("/echo/x");
  await client.get("/echo/x");

  expect(starts).toBe(1);
  expect(app.engine.server.listening).toBe(false);
});

it("liveClient listens on a free local port, and closes the app with itself", async () => {
  let ended = 0;
  const client = await liveClient(echo().onClose(() => void ended++));

  const direct = await fetch(`${client.url}/echo/x`);
  await client.close();

  expect(client.url).toBe(`http://127.0.0.1:${client.port}`);
  expect(direct.status).toBe(202);
  expect(ended).toBe(1);
  await expect(fetch(`${client.url}/echo/x`)).rejects.toThrow("fetch failed");
});
