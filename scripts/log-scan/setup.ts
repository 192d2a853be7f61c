import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, vi } from "vitest";
import type * as passwordHasher from "../../src/auth/passwords/password-hasher.ts";
import type * as http from "../../src/http/engine/engine.ts";
import { CredentialCatcher } from "./credential-catcher.ts";
import { ScannedText } from "./scanned-text.ts";

/** What one test file has logged and answered. */
class Scan {
  readonly catcher = new CredentialCatcher();
  readonly logged = new ScannedText(this.catcher);
  readonly errorBodies = new ScannedText(this.catcher);
  lines = 0;
  bodies = 0;
}

// Every application of every test logs at the finest level into here, whatever it was told, beside its own log. Files that
// share a process also share the replaced modules, so these look up the scan of the present file.
const place = globalThis as { logScan?: Scan; watchedEngine?: typeof http; watchedHasher?: typeof passwordHasher };
place.logScan = new Scan();
const present = (): Scan => place.logScan as Scan;

vi.doMock("../../src/http/engine/engine.ts", async (original) => {
  place.watchedEngine ??= watchEngine(await original<typeof http>());
  return place.watchedEngine;
});
vi.doMock("../../src/auth/passwords/password-hasher.ts", async (original) => {
  place.watchedHasher ??= watchHasher(await original<typeof passwordHasher>());
  return place.watchedHasher;
});

function watchEngine(engine: typeof http): typeof http {
  class Engine extends engine.Engine {
    constructor(options: http.EngineOptions) {
      super({ ...options, logger: overheard(options.logger) });
      this.fastify.addHook("onRequest", async ({ headers }) => present().catcher.addRequest(headers));
      // With a callback: what fails behind an async hook is an unhandled rejection, which Portico cannot contain.
      this.fastify.addHook("onSend", (_request, reply, payload, done) => {
        const body = typeof payload === "string" || payload instanceof Uint8Array ? String(payload) : "";
        present().catcher.addAnswer(reply.getHeader("set-cookie"), body);
        if (reply.statusCode >= 400) {
          present().bodies++;
          present().errorBodies.add(body);
        }
        done();
      });
    }
  }
  return { ...engine, Engine };
}

/** What is typed in and what is stored of it are credentials too, in whatever body they came. */
function watchHasher(module: typeof passwordHasher): typeof passwordHasher {
  class PasswordHasher extends module.PasswordHasher {
    override async hash(password: string): Promise<string> {
      present().catcher.add(password);
      const hash = await super.hash(password);
      present().catcher.add(hash);
      return hash;
    }
    override verify(password: string, stored: string | null): Promise<passwordHasher.PasswordCheck> {
      present().catcher.add(password);
      present().catcher.add(stored);
      return super.verify(password, stored);
    }
  }
  return { ...module, PasswordHasher };
}

/** The lines that the test asked for go where it wanted them; all of them, from trace on, are kept here as well. */
function overheard(logger: http.EngineOptions["logger"]): http.EngineOptions["logger"] {
  if (logger !== false && "child" in logger) return logger;
  const given = logger === false ? undefined : logger.stream;
  const lowest = logger === false ? Number.POSITIVE_INFINITY : (LEVELS[logger.level] ?? 0);
  return {
    level: "trace",
    stream: {
      write(line) {
        present().lines++;
        present().logged.add(line);
        if ((JSON.parse(line) as { readonly level: number }).level >= lowest) given?.write(line);
      },
    },
  };
}

const LEVELS: Readonly<Record<string, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: 100,
};

afterAll(() => {
  const { catcher, logged, errorBodies, lines, bodies } = present();
  const folder = process.env["PORTICO_LOG_SCAN_FOLDER"] ?? ".cache/log-scan";
  mkdirSync(folder, { recursive: true });
  const figures = { credentials: catcher.size, lines, errorBodies: bodies };
  writeFileSync(`${folder}/${randomUUID()}.json`, JSON.stringify(figures));
  const [inLog, inErrors] = [logged.leaks(), errorBodies.leaks()];
  if (inLog.length + inErrors.length > 0)
    throw new Error(`credentials in the log: ${inLog.join(" ")}; in answers to errors: ${inErrors.join(" ")}`);
});
