import type { KeyValueStore } from "portico";
import { MemoryKeyValue, type MemoryKeyValueOptions } from "../../../src/stores/memory-key-value.ts";

/** A memory store that records its calls, can be searched, and fails on demand. */
export class RecordingStore implements KeyValueStore {
  readonly calls: string[] = [];
  readonly entries: Map<string, string> = new Map();
  /** Called before every operation; what it throws is the store's failure. */
  before: (operation: string, key: string) => void | Promise<void> = () => {};
  readonly #inner: MemoryKeyValue;

  constructor(options: MemoryKeyValueOptions = {}) {
    this.#inner = new MemoryKeyValue(options);
  }

  async get(key: string): Promise<string | null> {
    await this.#note("get", key);
    return this.#inner.get(key);
  }
  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    await this.#note("set", key);
    await this.#inner.set(key, value, ttlMs);
    this.entries.set(key, value);
  }
  async setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean> {
    return this.compareAndSet(key, null, value, ttlMs);
  }
  async compareAndSet(key: string, expected: string | null, value: string, ttlMs?: number): Promise<boolean> {
    await this.#note("compareAndSet", key);
    const isDone = await this.#inner.compareAndSet(key, expected, value, ttlMs);
    if (isDone) this.entries.set(key, value);
    return isDone;
  }
  async delete(key: string): Promise<boolean> {
    await this.#note("delete", key);
    this.entries.delete(key);
    return this.#inner.delete(key);
  }

  /** The calls since the last time. */
  take(): readonly string[] {
    return this.calls.splice(0);
  }

  /** All keys and values that were written and not deleted. */
  get text(): string {
    return JSON.stringify([...this.entries]);
  }

  async #note(operation: string, key: string): Promise<void> {
    this.calls.push(`${operation} ${key.split(":")[0]}`);
    await this.before(operation, key);
  }
}
