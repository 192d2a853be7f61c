import { type Rule, thing } from "../core/resolve-options.ts";
import type { KeyValueStore } from "./key-value-store.ts";

/** An option that takes what stores a value under a key. */
export const keyValueStore: Rule<KeyValueStore> = thing(
  "a KeyValueStore",
  (value) => typeof (value as Partial<KeyValueStore> | null)?.compareAndSet === "function",
);
