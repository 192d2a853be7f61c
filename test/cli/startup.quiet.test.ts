import { spawn } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../../scripts/package/built-package.ts";
import { root } from "../../scripts/package/repository.ts";
import { running } from "./running-portico.ts";

/** Prints the CPU time of a process when it ends, in milliseconds. */
const METER = `data:text/javascript,${encodeURIComponent(`
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    process.stderr.write("\\ncpu " + Math.round((user + system) / 1000) + "\\n");
  });
`)}`;

const SERVER = `import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";

const app = new PorticoApp({ logger: false });
new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).mount(app);
await app.listen({ port: 0 });
const { user, system } = process.cpuUsage();
console.log("cpu " + Math.round((user + system) / 1000));
`;

const LOAD = `const { bookshop } = await import("./src/app.ts"); bookshop(); process.exit();`;
const START = `await import("./server.ts"); process.exit();`;

describe("the CPU time of the installed command", () => {
  let folder: string;
  const portico = (cwd: string, ...args: string[]) =>
    running(
      spawn(process.execPath, ["--import", METER, join(folder, "node_modules/portico/dist/cli/portico.js"), ...args], {
        cwd,
        env: { PATH: process.env["PATH"] },
      }),
    );
  beforeAll(async () => {
    folder = await folderWithPackage("cli-startup");
    for (const name of ["package.json", "portico.config.ts", "src"])
      await cp(join(root, "examples/bookshop", name), join(folder, "bookshop", name), { recursive: true });
    await mkdir(join(folder, "small"));
    await writeFile(join(folder, "small/server.ts"), SERVER);
  });

  /** The CPU time of plain Node for the same work, which tells how fast the machine is at the moment. */
  const plain = async (cwd: string, program: string): Promise<number> => {
    const child = running(spawn(process.execPath, ["--import", METER, "--input-type=module", "-e", program], { cwd }));
    await child.ended;
    return Number(/^cpu (\d+)$/m.exec(child.text)?.[1]);
  };

  it("is at most 1.3 of loading the application for portico routes on the bookshop", async () => {
    const measured: number[] = [];
    const loaded: number[] = [];
    for (let run = 0; run < 4; run++) {
      const command = portico(join(folder, "bookshop"), "routes");
      expect(await command.ended).toBe(0);
      expect(command.text).toMatch(/^POST +\/orders /m);
      measured.push(Number(/^cpu (\d+)$/m.exec(command.text)?.[1]));
      loaded.push(await plain(join(folder, "bookshop"), LOAD));
    }
    process.stdout.write(
      `portico routes: ${measured.join(", ")} ms of CPU time; the shop alone: ${loaded.join(", ")}\n`,
    );

    // The first run compiles, and later runs of any project find its code in the cache.
    expect(Math.min(...measured)).toBeLessThan(1.3 * Math.min(...loaded));
  });

  it("is at most 1.3 of starting a server for its restart by portico dev", async () => {
    const alone = Math.min(await plain(join(folder, "small"), START), await plain(join(folder, "small"), START));
    const dev = portico(join(folder, "small"), "dev");
    const [first] = await dev.until(/^cpu (\d+)$/);

    await writeFile(join(folder, "small/server.ts"), `${SERVER}\n`);
    const [restart] = await dev.until(/^cpu (\d+)$/);
    dev.child.kill("SIGTERM");

    process.stdout.write(
      `portico dev: ${first} ms of CPU time until the server listened, ${restart} ms after a change; alone: ${alone}\n`,
    );
    expect(Number(restart)).toBeLessThan(1.3 * alone);
    expect(await dev.ended).toBe(0);
  });
});
