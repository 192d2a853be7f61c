import { afterAll, beforeAll } from "vitest";

/**
 * Collects the unhandled rejections of this file's tests instead of failing them: graphql 16 leaves rejections unhandled where
 * a list or an object fails before its pending values do.
 */
export function unhandledRejections(): unknown[] {
  const listeners = process.listeners("unhandledRejection");
  const reasons: unknown[] = [];
  beforeAll(() => {
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (reason) => reasons.push(reason));
  });
  afterAll(() => {
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  });
  return reasons;
}
