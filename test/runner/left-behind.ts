import process from "node:process";

/** What files that share a process could replace for each other. */
const GLOBALS = ["Date", "Math", "setTimeout", "setInterval", "setImmediate", "fetch", "WebSocket", "console"] as const;
const EVENTS = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection"] as const;

/** Takes note of the process as a test file finds it. The function that it returns lists what the file has left changed. */
export function watchProcess(): () => readonly string[] {
  const env = { ...process.env };
  const folder = process.cwd();
  const values = new Map<string, unknown>(GLOBALS.map((name) => [name, Reflect.get(globalThis, name)]));
  const { random } = Math;
  const { now } = Date;
  const listeners = new Map(EVENTS.map((name) => [name, process.listenerCount(name)]));
  return () => {
    const names = new Set([...Object.keys(env), ...Object.keys(process.env)]);
    return [
      ...[...names].filter((name) => env[name] !== process.env[name]).map((name) => `process.env.${name}`),
      ...GLOBALS.filter((name) => values.get(name) !== Reflect.get(globalThis, name)),
      ...(Math.random === random ? [] : ["Math.random"]),
      ...(Date.now === now ? [] : ["Date.now"]),
      ...(process.cwd() === folder ? [] : ["the working directory"]),
      ...EVENTS.filter((name) => process.listenerCount(name) > (listeners.get(name) ?? 0)).map(
        (name) => `listeners for ${name}`,
      ),
    ];
  };
}
