import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import { type FactorRecord, methodsOf, NO_FACTORS } from "./factor-record.ts";
import { FactorStore } from "./factor-store.ts";
import { ownerKey } from "./passkeys.ts";

/** Removes all second factors and recovery codes of a user. Returns what there was, or `null` if there was nothing. */
export async function removeFactors(store: KeyValueStore, user: string): Promise<FactorRecord | null> {
  let removed: FactorRecord = NO_FACTORS;
  const isRemoved = await new FactorStore(store).remove(user, (record) => {
    removed = record;
    return methodsOf(record).length === 0 ? null : NO_FACTORS;
  });
  if (!isRemoved) return null;
  await Promise.all((removed.passkeys ?? []).map(({ id }) => discard(store, ownerKey(id))));
  return removed;
}
