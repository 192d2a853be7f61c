import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, expect, it } from "vitest";
import { settings } from "../shared/settings.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const databaseSchema = `from_fastify_${randomBytes(6).toString("hex")}`;
afterAll(async () => {
  const client = new Client(settings.databaseUrl);
  await client.connect();
  await client.query(`drop schema if exists ${databaseSchema} cascade`);
  await client.end();
});

it.each(["before", "after"])("npm run %s starts a server", async (version) => {
  const { scripts } = JSON.parse(await readFile(`${folder}package.json`, "utf8"));
  const [, ...args] = (scripts[version] as string).split(" ");
  const env = { ...process.env, PORT: "0", DATABASE_SCHEMA: databaseSchema };
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(server.stdout, "data");
    const url = /listening on (\S+)/.exec(String(line))?.[1];
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
  } finally {
    server.kill();
    await once(server, "close");
  }
});

it("the README states the lines of both versions", async () => {
  const linesOf = async (version: string): Promise<number> => {
    const files = await Array.fromAsync(glob(`${version}/*.ts`, { cwd: folder }));
    const texts = await Promise.all(files.map((file) => readFile(folder + file, "utf8")));
    return texts.flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "").length;
  };
  const readme = await readFile(`${folder}README.md`, "utf8");

  expect(readme).toContain(`| all files | ${await linesOf("before")} | ${await linesOf("after")} |`);
});
