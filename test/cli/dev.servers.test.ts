import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join, resolve } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runPortico, startOnTerminal, startPortico } from "./run-portico.ts";
import { type Running, running } from "./running-portico.ts";

// Inside the repository, so that the server finds its packages.
const cache = resolve(import.meta.dirname, "../../.cache");

const SERVER = `import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { greeting } from "./greeting.ts";

const app = new PorticoApp({ shutdown: { socketSeconds: 0 } });
app.get("/", () => greeting);
app.get("/log", ({ ctx }) => {
  ctx.log.info({ title: "Emma \\u001b[31m", copies: 3 }, "sold\\u009b a book");
  return "logged";
});
app.get("/print", () => console.log("plain text"));
app.get("/boom", () => {
  throw new Error("out of paper");
});
new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { ide: true }).mount(app);
app.onClose(() => console.log("closed gracefully"));
app.log.warn({}, "paper is low");
await app.listen({ port: Number(process.env["PORT"] ?? 0) });
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

// Each of these starts several processes.
describe("portico dev", () => {
  let folder: string;
  let program: Running | null = null;
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const greet = (text: string): Promise<void> => write("src/greeting.ts", `export const greeting = "${text}";\n`);
  const start = (...args: string[]): Running => {
    program = running(startPortico(["dev", ...args], { cwd: folder }));
    return program;
  };
  beforeAll(() => mkdir(cache, { recursive: true }));
  beforeEach(async () => {
    folder = await mkdtemp(join(cache, "dev-"));
    await mkdir(join(folder, "src"));
    await write("src/server.ts", SERVER);
    await greet("hello");
  });
  afterEach(async () => {
    program?.child.kill("SIGTERM");
    await program?.ended;
    program = null;
    await rm(folder, { recursive: true });
  });

  it("shows the URLs and the warnings, and serves the new code after a change", async () => {
    await write(".env", `PORT=${await freePort()}`);
    await write("src/server.ts", `process.loadEnvFile();\n${SERVER}`);
    const dev = start();
    const [url = ""] = await dev.until(/^ {2}API {12}(http:\S+)$/);
    await dev.until(/^ {2}warning paper is low$/);

    const before = await (await fetch(url)).text();
    await greet("good morning");
    const [, restarted = ""] = await dev.until(/^restarted in (\d+) ms after a change of src\/greeting\.ts: (\S+)$/);
    const after = await (await fetch(restarted)).text();

    expect([before, after]).toEqual(['"hello"', '"good morning"']);
    expect(dev.text).toContain(
      [
        "  portico dev src/server.ts",
        "",
        `  API            ${url}`,
        `  API reference  ${url}/docs`,
        `  GraphiQL       ${url}/graphql`,
        `  Health         ${url}/readyz`,
        "",
        "  warning paper is low",
      ].join("\n"),
    );
    // The old process had freed the port before the new one started.
    expect(restarted).toBe(url);
  });

  it("passes the values that .env has now, and keeps variables of the shell", async () => {
    await write(
      "src/greeting.ts",
      "export const greeting = [process.env['GREETING'], process.env['SHOP']].join(' ');\n",
    );
    await write(".env", "GREETING=hello\nSHOP=books\n");
    program = running(startPortico(["dev"], { cwd: folder, env: { SHOP: "records" } }));
    const [url = ""] = await program.until(/^ {2}API {12}(http:\S+)$/);

    const before = await (await fetch(url)).text();
    await write(".env", "GREETING=welcome\nSHOP=toys\n");
    const [restarted = ""] = await program.until(/^restarted in \d+ ms after a change of \.env: (\S+)$/);
    const after = await (await fetch(restarted)).text();

    expect([before, after]).toEqual(['"hello records"', '"welcome records"']);
  });

  it("keeps running when the server fails, and starts it again after the next change", async () => {
    const dev = start();
    await dev.until(/API {12}/);

    await greet('"; export const = "');
    await dev.until(/SyntaxError/);
    await dev.until(/^src\/server\.ts ended with code 1\. It starts again when a file changes$/);
    await greet("fixed");
    const [url = ""] = await dev.until(/^restarted in .*: (\S+)$/);

    expect(await (await fetch(url)).text()).toBe('"fixed"');
  });

  it("watches new directories, and ignores packages and files that are not source code", async () => {
    const dev = start();
    await dev.until(/API {12}/);

    await mkdir(join(folder, "node_modules/paper"), { recursive: true });
    await write("node_modules/paper/index.js", "");
    await write("shop.db", "data");
    await mkdir(join(folder, "src/words"));
    await write("src/words/french.ts", 'export const hello = "bonjour";\n');
    await write("src/greeting.ts", 'export { hello as greeting } from "./words/french.ts";\n');
    const [url = ""] = await dev.until(/^restarted in .*: (\S+)$/);
    await write("src/words/french.ts", 'export const hello = "salut";\n');
    const [again = ""] = await dev.until(/^restarted in \d+ ms after a change of src\/words\/french\.ts: (\S+)$/);

    expect(url).toMatch(/^http:/);
    expect(await (await fetch(again)).text()).toBe('"salut"');
    expect(dev.text.match(/^restarted/gm)).toHaveLength(2);
  });

  it("prints log entries as readable lines without control characters, and other text as it is", async () => {
    const dev = start();
    const [url = ""] = await dev.until(/API {12}(\S+)/);

    await fetch(`${url}/log`);
    await dev.until(/^\d\d:\d\d:\d\d info {2}sold a book title="Emma \\u001b\[31m" copies=3$/);
    await fetch(`${url}/print`);
    await dev.until(/^plain text$/);
    await fetch(`${url}/boom`);
    await dev.until(/^\d\d:\d\d:\d\d error out of paper method=GET path=\/boom /);
    await dev.until(/^ {2}Error: out of paper$/);
    await dev.until(/^ {6}at .*src\/server\.ts:13:9/);

    expect(dev.text).not.toContain('"level"');
  });

  it("prints events as JSON with --json, and the log as the server writes it", async () => {
    const dev = start("--json", "src/server.ts");

    const [text = ""] = await dev.until(/^(\{"event":"listening".*\})$/);
    dev.child.kill("SIGTERM");

    expect(JSON.parse(text)).toEqual({
      event: "listening",
      url: expect.stringMatching(/^http:/),
      pages: [
        { name: "API reference", path: "/docs" },
        { name: "GraphiQL", path: "/graphql" },
        { name: "Health", path: "/readyz" },
      ],
      cause: null,
      tookMs: expect.any(Number),
    });
    expect(await dev.ended).toBe(0);
    const entries = dev.text.split("\n").filter((line) => line.startsWith("{"));
    expect(entries.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 40, msg: "paper is low" }),
    );
    expect(dev.text).toContain('{"event":"stopping"}');
  });

  it("ends the server gracefully on Ctrl-C", async () => {
    const dev = running(startOnTerminal(["dev"], { cwd: folder }));
    await dev.until(/API {12}/);

    dev.child.stdin.write("\u0003");

    await dev.until(/shutting down$/);
    await dev.until(/closed gracefully/);
    expect(await dev.ended).toBe(0);
  });

  it("has no escape sequence on a terminal with NO_COLOR", async () => {
    const dev = running(startOnTerminal(["dev"], { cwd: folder, env: { NO_COLOR: "1" } }));
    let raw = "";
    dev.child.stdout.on("data", (chunk) => (raw += String(chunk)));
    const [url = ""] = await dev.until(/API {12}(\S+)/);
    await fetch(`${url}/boom`);
    await dev.until(/^\d\d:\d\d:\d\d error out of paper /);
    dev.child.stdin.write("\u0003");
    await dev.ended;

    expect(raw).not.toContain("\u001b");
  });

  it("ends the server when it is killed itself", async () => {
    const dev = start();
    const [url = ""] = await dev.until(/API {12}(\S+)/);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    await once(socket, "connect");
    // The server closes idle connections when it ends.
    socket.on("error", () => {});
    const closed = once(socket.resume(), "close");

    dev.child.kill("SIGKILL");

    await closed;
    await dev.ended;
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("asks for the entry if there is none", async () => {
    await rm(join(folder, "src/server.ts"));

    expect(await runPortico(["dev"], { cwd: folder })).toMatchObject({
      code: 2,
      err: expect.stringContaining("portico: no server to start: pass its file, or create src/server.ts"),
    });
    expect((await runPortico(["dev", "other.ts"], { cwd: folder })).err).toContain("portico: other.ts does not exist");
  });
});
