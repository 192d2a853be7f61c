import { PorticoApp } from "portico";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { liveClient } from "portico/testing";
import { expect, it } from "vitest";
import { sessionApp } from "../auth/sessions/session-app.ts";
import { overBoth } from "../matrix.ts";

const PAST = "Thu, 01 Jan 1970 00:00:00 GMT";

function app(): PorticoApp {
  const built = new PorticoApp({ logger: false })
    .get("/sent", ({ request }) => ({ sent: request.headers["cookie"] ?? null }))
    .get("/shelf/sent", ({ request }) => ({ sent: request.headers["cookie"] ?? null }))
    .post("/set", ({ response }) =>
      response
        .cookie("theme", "dark mode")
        .cookie("basket", "7", { path: "/shelf", maxAgeSeconds: 60 })
        .cookie("brief", "x")
        .text("set"),
    )
    .post("/change", ({ response }) => response.cookie("theme", "light").clearCookie("brief").text("changed"))
    .post("/expire", ({ response }) => response.header("set-cookie", `theme=; Path=/; Expires=${PAST}`).text("expired"))
    .post("/clear-shelf", ({ response }) => response.clearCookie("basket", { path: "/shelf" }).text("cleared"))
    .socket("/socket", ({ socket, request }) => socket.send(request.headers["cookie"] ?? "none"));
  const query = { sent: field(t.string)(({ ctx }) => String(ctx.request.headers["cookie"])) };
  const live = {
    sent: subscription(t.string)(async function* ({ ctx }) {
      yield String(ctx.request.headers["cookie"]);
    }),
  };
  new Graph(schema({ query, subscription: live })).mount(built);
  return built;
}

const sent = (cookie: string | null): object => ({ sent: cookie });

overBoth("a client with cookies sends back what answers have set, where it belongs", app, async (client) => {
  const browser = client.withCookies();
  expect((await browser.get("/sent")).json()).toEqual(sent(null));

  await browser.post("/set");

  expect((await browser.get("/sent?page=2")).json()).toEqual(sent("theme=dark%20mode; brief=x"));
  expect((await browser.get("/shelf/sent")).json()).toEqual(sent("basket=7; theme=dark%20mode; brief=x"));
  expect((await browser.graphql("{ sent }")).data).toEqual(sent("theme=dark%20mode; brief=x"));
  const [event] = await Array.fromAsync(browser.subscribe("subscription { sent }"));
  expect(event?.data).toEqual(sent("theme=dark%20mode; brief=x"));
  expect((await client.get("/sent")).json()).toEqual(sent(null));
});

overBoth("a cookie is replaced, and gone when it is cleared or has expired", app, async (client) => {
  const browser = client.withCookies();
  await browser.post("/set");

  await browser.post("/change");
  expect((await browser.get("/sent")).json()).toEqual(sent("theme=light"));
  await browser.post("/expire");
  expect((await browser.get("/shelf/sent")).json()).toEqual(sent("basket=7"));
  await browser.post("/clear-shelf");
  expect((await browser.get("/shelf/sent")).json()).toEqual(sent(null));
});

overBoth("each jar is its own, and a header of the request counts instead of it", app, async (client) => {
  const browser = client.withCookies();
  await browser.post("/set");

  expect((await browser.withCookies().get("/sent")).json()).toEqual(sent(null));
  expect((await browser.get("/sent", { headers: { Cookie: "own=1" } })).json()).toEqual(sent("own=1"));
});

overBoth("a session lasts from the login to the logout", sessionApp, async (client) => {
  const browser = client.withCookies();

  await browser.post("/login/ann");
  expect((await browser.get("/me")).json()).toEqual({ who: "ann", auth: "session" });
  await browser.post("/logout");
  expect((await browser.get("/me")).status).toBe(401);
});

it("sockets of a live client send its cookies", async () => {
  const client = await liveClient(app());
  try {
    const browser = client.withCookies();
    await browser.post("/set");

    expect(await (await browser.socket("/socket")).next()).toBe("theme=dark%20mode; brief=x");
    expect(await (await client.socket("/socket")).next()).toBe("none");
  } finally {
    await client.close();
  }
});
