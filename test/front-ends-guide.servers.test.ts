import { PorticoApp } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } from "portico/auth";
import { type LiveClient, liveClient } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pageProgram } from "./docs/page-program.ts";

const { faults, load } = await pageProgram("docs/guide/front-ends.md");
const { forward } = await load<{ readonly forward: (request: Request, url: string) => Promise<Response> }>("route.ts");

const PAGE = "https://shop.example";
let client: LiveClient;
beforeAll(async () => {
  const app = new PorticoApp({ logger: false, origins: [PAGE] });
  app.use(new SessionMiddleware({ secret: crypto.randomUUID() }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.post("/sign-in", ({ request }) => request.sessions.login(new SimpleUser("ann")));
  app.post("/orders", { auth: true }, async ({ request, user }) => ({
    by: user.displayName,
    order: await request.json(),
  }));
  client = await liveClient(app);
});
afterAll(() => client.close());

/** Sends a request to a handler of the front end, which forwards it. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const body = JSON.stringify({ title: "Emma" });
  const init = { method: "POST", body, headers: { "content-type": "application/json", origin: PAGE, ...headers } };
  return forward(new Request(`${PAGE}${path}`, init), `${client.url}${path}`);
}

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("forwards the session in both directions, and Portico still refuses foreign pages", async () => {
  const [cookie = ""] = (await send("/sign-in")).headers.getSetCookie();
  const session = { cookie: cookie.split(";")[0] as string };

  expect(cookie).toMatch(/^__Host-portico_session=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  expect(await (await send("/orders", session)).json()).toEqual({ by: "ann", order: { title: "Emma" } });
  expect((await send("/orders")).status).toBe(401);
  const foreign = await send("/orders", { ...session, origin: "https://evil.example" });
  expect([foreign.status, ((await foreign.json()) as { code: string }).code]).toEqual([403, "cross_site_refused"]);
});
