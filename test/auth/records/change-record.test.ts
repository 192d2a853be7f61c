import { expect, it } from "vitest";
import { changeRecord, parseRecord } from "../../../src/auth/records/change-record.ts";
import { RecordingStore } from "../sessions/recording-store.ts";

interface Count {
  readonly count: number;
}

const increment = (record: Count | null): Count => ({ count: (record?.count ?? 0) + 1 });
const read = async (store: RecordingStore): Promise<Count | null> => parseRecord<Count>(await store.get("key"));

it("a record is created, changed and removed", async () => {
  const store = new RecordingStore();
  await changeRecord<Count>(store, "key", increment);
  await changeRecord<Count>(store, "key", async (record) => increment(record));
  expect(await read(store)).toEqual({ count: 2 });

  await changeRecord<Count>(store, "key", () => null);
  expect(await read(store)).toBe(null);
  await changeRecord<Count>(store, "key", increment);
  expect(await read(store)).toEqual({ count: 1 });
});

it("nothing is written if the record stays the same", async () => {
  const store = new RecordingStore();
  await changeRecord<Count>(store, "key", (record) => record);
  await changeRecord<Count>(store, "key", increment);
  store.take();
  await changeRecord<Count>(store, "key", (record) => record);

  expect(store.take()).toEqual(["get key"]);
});

it("is changed again after a concurrent change, and none is lost", async () => {
  const store = new RecordingStore();
  await Promise.all(Array.from({ length: 8 }, () => changeRecord<Count>(store, "key", increment)));

  expect(await read(store)).toEqual({ count: 8 });
});

it("is kept as long as the caller says", async () => {
  const store = new RecordingStore();
  const kept: (number | undefined)[] = [];
  const set = store.compareAndSet.bind(store);
  store.compareAndSet = (key, expected, value, ttlMs) => {
    kept.push(ttlMs);
    return set(key, expected, value, ttlMs);
  };
  await changeRecord<Count>(store, "key", increment, ({ count }) => count * 1000);
  await changeRecord<Count>(store, "key", increment);
  await changeRecord<Count>(store, "key", () => null);

  expect(kept).toEqual([1000, undefined, 1]);
});

it("is given up after 50 concurrent changes", async () => {
  const store = new RecordingStore();
  let changes = 0;
  store.compareAndSet = async () => {
    changes++;
    return false;
  };

  await expect(changeRecord<Count>(store, "key", increment)).rejects.toMatchObject({
    status: 503,
    message: "Too many concurrent changes to this account. Try again.",
  });
  expect(changes).toBe(50);
});
