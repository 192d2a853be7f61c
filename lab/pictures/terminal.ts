import { execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { folderWithPackage } from "../../scripts/package/built-package.ts";

const CLI = "node_modules/portico/dist/cli/portico.js";
const PORT = 3_000;
const TIMEOUT_MS = 60_000;

const ORDERS = `import type { PorticoApp } from "portico";

export function addOrders(app: PorticoApp): void {
  app.post("/orders", ({ ctx }) => {
    ctx.log.info({ order: 812, user: "ann" }, "order placed");
    return { id: "812" };
  });
}
`;
const FILES: Readonly<Record<string, string>> = {
  "src/orders.ts": ORDERS,
  "src/app.ts": `import { env, PorticoApp } from "portico";
import { authentication } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { openDatabase, sqlStores, userModel } from "portico/sql";
import { addOrders } from "./orders.ts";

export const database = openDatabase(env("DATABASE_URL", "sqlite:shop.db"));
export const users = userModel(database);
const isProduction = process.env["NODE_ENV"] === "production";

export function shop(): PorticoApp {
  const stores = sqlStores(database);
  const app = new PorticoApp({ title: "Shop", stores, ...(isProduction ? { publicUrl: "https://shop.example" } : {}) });
  const secret = env("SECRET", "the development secret of the shop, 7f3a91");
  app.use(authentication({ userModel: users, secret, audience: "shop", async mailer() {} }));
  addOrders(app);
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { ide: true }).mount(app);
  return app;
}
`,
  "src/server.ts": `import { shop } from "./app.ts";

await shop().listen({ port: ${PORT} });
`,
  "portico.config.ts": `import type { PorticoConfig } from "portico";
import { database, shop, users } from "./src/app.ts";

export default { app: shop, database, users } satisfies PorticoConfig;
`,
};

/** The lines of `portico dev`: it starts a small application, which logs a request and is restarted after a change. */
export async function devLines(): Promise<string> {
  const folder = await application("picture-dev");
  await commandLines(folder, ["migrate", "up"]);
  const child = spawn(process.execPath, [CLI, "dev"], { cwd: folder, env: environment({}) });
  let lines = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      lines += text;
    });
  const printed = async (words: string): Promise<void> => {
    for (const end = Date.now() + TIMEOUT_MS; !lines.includes(words); await sleep(50))
      if (Date.now() > end || lines.includes("ended with code"))
        throw new Error(`portico dev did not print "${words}": ${lines}`);
  };
  try {
    await printed("/readyz");
    await fetch(`http://127.0.0.1:${PORT}/orders`, { method: "POST" });
    await printed("order placed");
    await writeFile(join(folder, "src/orders.ts"), ORDERS.replace("812 }", "813 }"));
    await printed("restarted");
    return lines.trimEnd();
  } finally {
    child.kill("SIGKILL");
  }
}

/** The lines of `portico doctor` about the application in production, with a default secret and without its tables. */
export async function doctorLines(): Promise<string> {
  return commandLines(await application("picture-doctor"), ["doctor"], { NODE_ENV: "production" });
}

async function application(name: string): Promise<string> {
  const folder = await folderWithPackage(name);
  await mkdir(join(folder, "src"), { recursive: true });
  for (const [file, text] of Object.entries(FILES)) await writeFile(join(folder, file), text);
  return folder;
}

function commandLines(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd: folder, env: environment(env) }, (_, out) =>
      resolve(out.trimEnd()),
    );
  });
}

/** Without the variables of this process that an application could read. */
function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", ...env };
}

/** A page that looks like a terminal: a command and the lines that it printed. */
export function terminalPage(command: string, lines: string): string {
  const escaped = lines.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const marked = escaped
    .replaceAll(
      /^(ok|warning|failed|not checked)(?= )/gm,
      (level: string) => `<b class="${level.replace(" ", "-")}">${level}</b>`,
    )
    .replaceAll(/(?<=^  )warning(?= )|(?<=^[\d:]+ )warn(?:ing)?(?= )/gm, '<b class="warning">$&</b>')
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+[\w/]*/g, "<u>$&</u>");
  return `<!doctype html><title>Terminal</title><meta charset="utf-8"><style>${STYLE}</style>
<div class="bar"><i></i><i></i><i></i></div><pre><b class="prompt">$</b> ${command}
${marked}</pre>`;
}

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --panel: #f3f4f6; --line: #d8dde3; --text: #1b2028; --weak: #6b7280; --red: #c81e1e; --green: #1a7f37; --amber: #9a5b00; --blue: #0b5cad }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181f; --panel: #1b212b; --line: #2d3542; --text: #e5e9f0; --weak: #98a2b3; --red: #f87171; --green: #4ade80; --amber: #fbbf24; --blue: #7cb8ff }
}
body { margin: 0; background: var(--ground); color: var(--text) }
.bar { background: var(--panel); border-bottom: 1px solid var(--line); height: 48px; display: flex; gap: 10px; align-items: center; padding: 0 18px }
.bar i { width: 14px; height: 14px; border-radius: 50%; background: var(--line) }
pre { margin: 0; padding: 22px 26px; font: 17px/1.55 "DejaVu Sans Mono", monospace; white-space: pre-wrap }
.prompt { color: var(--weak) } .ok { color: var(--green) } :is(.warning, .not-checked) { color: var(--amber) } .failed { color: var(--red) }
u { color: var(--blue); text-decoration: none }
`;
