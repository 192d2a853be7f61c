import { createRequire } from "node:module";
import process from "node:process";

/** What files that share a process could replace for each other. */
const GLOBALS = ["Date", "Math", "setTimeout", "setInterval", "setImmediate", "fetch", "WebSocket", "console"] as const;
/** Modules whose functions tests replace, and which all files of a process share. */
const MODULES = [
  "@node-rs/argon2",
  "@node-rs/bcrypt",
  "node:child_process",
  "node:crypto",
  "node:dns",
  "node:fs",
  "node:fs/promises",
  "node:http",
  "node:https",
  "node:net",
  "node:os",
  "node:perf_hooks",
  "node:timers",
  "node:tls",
] as const;
const EVENTS = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection"] as const;

const require = createRequire(import.meta.url);

/** The functions of a module, and those of its classes. */
function functionsOf(name: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const module = require(name) as object;
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(module))) {
    if (typeof value !== "function") continue;
    found.set(`${name} ${key}`, value);
    const prototype: unknown = value.prototype;
    if (typeof prototype !== "object" || prototype === null) continue;
    for (const [method, { value: inner }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (typeof inner === "function" && method !== "constructor") found.set(`${name} ${key}.${method}`, inner);
  }
  return found;
}

/** Takes note of the process as a test file finds it. The function that it returns lists what the file has left changed. */
export function watchProcess(): () => readonly string[] {
  const env = { ...process.env };
  const folder = process.cwd();
  const values = new Map<string, unknown>(GLOBALS.map((name) => [name, Reflect.get(globalThis, name)]));
  const { random } = Math;
  const { now } = Date;
  const functions = new Map(MODULES.map((name) => [name, functionsOf(name)]));
  const listeners = new Map(EVENTS.map((name) => [name, process.listenerCount(name)]));
  return () => {
    const names = new Set([...Object.keys(env), ...Object.keys(process.env)]);
    return [
      ...[...names].filter((name) => env[name] !== process.env[name]).map((name) => `process.env.${name}`),
      ...GLOBALS.filter((name) => values.get(name) !== Reflect.get(globalThis, name)),
      ...(Math.random === random ? [] : ["Math.random"]),
      ...(Date.now === now ? [] : ["Date.now"]),
      ...MODULES.flatMap((name) => {
        const now = functionsOf(name);
        return [...(functions.get(name) ?? [])].filter(([key, value]) => now.get(key) !== value).map(([key]) => key);
      }),
      ...(process.cwd() === folder ? [] : ["the working directory"]),
      ...EVENTS.filter((name) => process.listenerCount(name) > (listeners.get(name) ?? 0)).map(
        (name) => `listeners for ${name}`,
      ),
    ];
  };
}
