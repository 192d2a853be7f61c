import process from "node:process";

/** Ends an application because of a promise that was rejected without a handler. */
type End = (reason: unknown) => void;

const ends = new Set<End>();

/**
 * Calls `end` when a promise is rejected and nothing handles it, instead of Node, which would end the process before open requests
 * have their responses. Leaves it to Node if the process chose another policy, and to the application if it has a listener.
 * Returns the function that stops this.
 */
export function onUnhandledRejection(end: End): () => void {
  if (choosesPolicy()) return () => {};
  if (ends.size === 0) process.on("unhandledRejection", endAll);
  ends.add(end);
  return () => {
    ends.delete(end);
    if (ends.size === 0) process.off("unhandledRejection", endAll);
  };
}

function endAll(reason: unknown): void {
  if (process.listenerCount("unhandledRejection") > 1) return;
  for (const end of ends) end(reason);
}

/** Whether Node was started with a flag that sets the policy for unhandled rejections. */
function choosesPolicy(): boolean {
  const flags = [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(" ")];
  return flags.some((flag) => flag.startsWith("--unhandled-rejections") && !flag.endsWith("=throw"));
}
