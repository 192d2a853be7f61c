import type { Locator, Page } from "playwright-core";
import { HttpException, PorticoApp } from "portico";
import {
  field,
  Graph,
  type GraphOptions,
  type IDEOptions,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBrowserMissing, type Visit, visit } from "../../browser.ts";

describe.skipIf(isBrowserMissing)("in a browser that reaches only this server, the explorer", () => {
  it("[IDE-01] [IDE-06] [IDE-07] [graphql:J10] completes, runs with variables and headers, shows errors, browses the schema, and sends no other request", async () => {
    const { page, elsewhere, complaints, picture, asked } = await openExplorer();

    await write(page, editor(page), "query Greeting($name: String!) { hel");
    await suggest(page, "hello");
    await picture("ide-completion");
    await page.keyboard.press("Enter");
    await page.keyboard.insertText("(name: $name) }");
    await page.getByRole("button", { name: "Variables" }).click();
    await write(page, tool(page), '{ "name": "Ada" }');
    await page.getByRole("button", { name: "Headers" }).click();
    await write(page, tool(page), '{ "x-visitor": "reader 7" }');
    await run(page, "Greeting");

    await shows(page, '"hello": "hello Ada, reader 7"');
    await picture("ide-result");

    await write(page, editor(page), "query Sealed { sealed }");
    await run(page, "Sealed");
    await shows(page, '"The archive is closed today"');
    await shows(page, '"FORBIDDEN"');
    await picture("ide-error");

    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    const docs = page.locator(".graphiql-plugin");
    await docs.getByRole("link", { name: "Query" }).click();
    await docs.getByText("The newest books of the shop.").waitFor();
    await docs.getByRole("link", { name: "Book", exact: true }).click();
    await docs.getByText("What stands on a shelf.").waitFor();
    await picture("ide-schema");

    expect(asked.every((address) => address.endsWith("/api/graphql"))).toBe(true);
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("[IDE-09] follows a subscription over the socket, with its headers as credentials", async () => {
    const { page, complaints } = await openExplorer({ query: "subscription Ticks { tick }" });
    const [sockets, sent]: [string[], string[]] = [[], []];
    page.on("websocket", (socket) => {
      sockets.push(socket.url());
      socket.on("framesent", ({ payload }) => sent.push(String(payload)));
    });

    await page.getByRole("button", { name: "Headers" }).click();
    await write(page, tool(page), '{ "x-visitor": "reader 7" }');
    await run(page, "Ticks");
    await shows(page, '"tick": 2');

    expect(sockets.map((address) => new URL(address).pathname)).toEqual(["/api/graphql"]);
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({ type: "connection_init", payload: { "x-visitor": "reader 7" } });
    expect(complaints).toEqual([]);
  });

  it("[graphql:J11] shows HTML in a description as text, and lets no link run a script", async () => {
    const { page, complaints } = await openExplorer();

    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    const docs = page.locator(".graphiql-plugin");
    await docs.getByRole("link", { name: "Query" }).click();
    await docs.getByRole("link", { name: "trap" }).click();
    await docs.getByText("A trap").waitFor();

    const description = docs.locator(".graphiql-markdown-description").first();
    expect(await description.textContent()).toContain("<img src=x onerror=");
    expect(await description.locator("img, script, iframe").count()).toBe(0);
    expect(await description.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate("globalThis.trapped")).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  it("[graphql:J8] treats its title and its first query as text, whatever is in them", async () => {
    const title = '</title></script><script>trapped = 1</script>\u2028"&quot;';
    const { page, complaints, picture } = await openExplorer({
      title,
      query: "# </script><script>trapped = 2</script>\n",
    });

    expect(await page.title()).toBe(title);
    await page.locator(".view-line", { hasText: "trapped" }).waitFor();
    await picture("ide-hostile-title");

    expect(await page.evaluate("globalThis.trapped")).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  it("shows why it has no schema while introspection is off, and still runs operations", async () => {
    const { page } = await openExplorer(
      { query: 'query Greeting { hello(name: "Ada") }' },
      {},
      { introspection: false },
    );

    await shows(page, '"INTROSPECTION_DISABLED"');
    await run(page, "Greeting");
    await shows(page, '"hello": "hello Ada');

    expect(await page.locator(".result-window").textContent()).not.toContain("INTROSPECTION_DISABLED");
  });

  it("is dark for users who prefer dark mode", async () => {
    const { page, picture } = await openExplorer({ title: "Bookshop" }, { colorScheme: "dark" });

    await editor(page).locator(".view-line").first().waitFor();
    await picture("ide-dark");

    expect(await page.evaluate(BRIGHTNESS)).toBeLessThan(0.4);
  });
});

/** From 0 to 1, of what lies behind the editor. */
const BRIGHTNESS = `(() => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = getComputedStyle(document.querySelector(".graphiql-container")).backgroundColor;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
  return (red + green + blue) / 765;
})()`;

async function openExplorer(
  ide: IDEOptions = { title: "Bookshop" },
  context: Parameters<typeof visit>[1] = {},
  options: GraphOptions = {},
): Promise<Visit & { readonly asked: readonly string[] }> {
  const app = new PorticoApp({ logger: false });
  new Graph(bookshop(), { ide, path: "/api/graphql", ...options }).mount(app);
  const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const visited = await visit(url, context);
  const asked: string[] = [];
  visited.page.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url())) asked.push(request.url());
  });
  await visited.page.goto(`${url}/api/graphql`);
  await editor(visited.page).waitFor();
  return { ...visited, asked };
}

function bookshop(): ReturnType<typeof schema> {
  const Book: ObjectType<{ id: string; title: string }> = object(
    "Book",
    { id: t.id, title: t.string },
    { description: "What stands on a shelf." },
  );
  return schema({
    query: {
      books: field(t.list(Book), { description: "The newest books of the shop." })(() => [{ id: "1", title: "Emma" }]),
      hello: field(t.string, { params: { name: t.string } })(
        ({ name, ctx }) => `hello ${name}, ${ctx.request.headers["x-visitor"]}`,
      ),
      sealed: field(t.nullable(t.string))(() => {
        throw new HttpException(403, "The archive is closed today", { code: "FORBIDDEN" });
      }),
      trap: field(t.nullable(t.string), { description: TRAP })(() => null),
    },
    subscription: {
      tick: subscription(t.int)(async function* () {
        yield 1;
        yield 2;
      }),
    },
  });
}

const TRAP = `A trap <img src=x onerror="trapped = 3"><script>trapped = 4</script>
<iframe srcdoc="<script>parent.trapped = 5</script>"></iframe> [click](javascript:trapped=6)`;

const editor = (page: Page): Locator => page.locator(".graphiql-query-editor .monaco-editor").first();
/** The pane that is open below the editor. */
const tool = (page: Page): Locator => page.locator(".graphiql-editor-tool .monaco-editor:visible").first();

/** Puts a text into an editor, in place of what is there. Pasted: brackets that are typed would be closed by themselves. */
async function write(page: Page, into: Locator, text: string): Promise<void> {
  await into.click();
  await page.keyboard.press("Control+A");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
}

/** Runs the operation once the page has taken notice of its name, which it does some moments after the last key. */
async function run(page: Page, operation: string): Promise<void> {
  // Suggestions lie over the button until the editor is left.
  await page.locator(".graphiql-logo").click();
  await page.getByRole("tab", { name: operation }).waitFor();
  await page.waitForTimeout(500);
  await page.getByRole("button", { name: /Execute query/ }).click();
}

async function shows(page: Page, text: string): Promise<void> {
  await page.locator(".result-window .view-lines", { hasText: text.replaceAll(" ", "\u00a0") }).waitFor();
}

/** Asks for what fits here, as a person does: again while nothing comes, for the editor learns the schema in the background. */
async function suggest(page: Page, text: string): Promise<void> {
  const suggestion = page.locator(".suggest-widget .monaco-list-row", { hasText: text }).first();
  for (let tries = 0; tries < 20; tries++) {
    await page.keyboard.press("Control+Space");
    const isThere = await suggestion.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await page.keyboard.press("Escape");
  }
  throw new Error(`the editor never suggested ${text}`);
}
