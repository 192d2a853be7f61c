import { setTimeout as sleep } from "node:timers/promises";
import { inBackground } from "../../core/work/in-background.ts";
import type { BaseContext } from "../context/http-context.ts";
import { HttpException } from "../exceptions/http-exception.ts";
import { Attempt, inProgress } from "./attempt.ts";
import { grantsDigest } from "./grants-digest.ts";
import type { Idempotent } from "./idempotent.ts";
import type { KeyPlace, StoredResponse } from "./response-store.ts";
import { type KeptResponse, openResponse, sealResponse } from "./seal-response.ts";

/** The work of a request with an idempotency key. */
export interface OnceWork<T> {
  readonly key: string;
  /** A digest of the request. Another request with the same key is rejected. */
  readonly request: string;
  /** Does the work. `keep` says how its response is stored, and is called before the transaction commits. */
  run(keep: (response: () => Response) => void): Promise<T>;
  /** Sends the stored response. */
  replay(response: KeptResponse & { readonly body: string }): T | Promise<T>;
}

type Response = Pick<KeptResponse, "status" | "headers" | "body"> & Partial<Pick<KeptResponse, "fields">>;

/** The longest body that is stored. */
const MAX_BYTES = 256 * 1024;
const FIRST_POLL_MS = 25;
const MAX_POLL_MS = 1_000;

/**
 * Does the work of a request unless an earlier request with its key did, whose response is then sent again. While that one runs,
 * it waits, and holds no connection to the database: requests of one process share the wait.
 *
 * Rejects with 422 for another request with the key, and with 409 after the longest wait, or if the response cannot be sent again.
 */
export async function doOnce<T>(ctx: BaseContext, idempotent: Idempotent, work: OnceWork<T>): Promise<T> {
  const { store, waitMs } = idempotent;
  const place = { caller: ctx.identity.user.identity, key: work.key };
  const id = JSON.stringify([place.caller, place.key]);
  const until = performance.now() + waitMs;
  for (;;) {
    const running = store.running.get(id);
    if (running === undefined) return attempt(ctx, idempotent, work, { place, id, until });
    const sealed = await within(until, running, ctx);
    if (sealed !== null) return replay(ctx, work, place, { sealed, isOutdated: false });
  }
}

interface Place {
  readonly place: KeyPlace;
  readonly id: string;
  readonly until: number;
}

async function attempt<T>(
  ctx: BaseContext,
  idempotent: Idempotent,
  work: OnceWork<T>,
  { place, id, until }: Place,
): Promise<T> {
  const { store } = idempotent;
  const current = new Attempt(ctx, idempotent, place);
  const { running } = store;
  running.set(id, current.result);
  // Before the code that waits for the result goes on.
  inBackground(current.result.then(() => running.delete(id)));
  try {
    const before = await store.find(place);
    if (before !== null) return await replay(ctx, work, place, settled(current, before));
    const keep = (response: () => Response): void => {
      current.response = () => seal(ctx, work.request, place, response());
    };
    try {
      return await current.run(() => work.run(keep));
    } catch (error) {
      if (!current.isTaken) throw error;
    }
    const later = await committedElsewhere(ctx, idempotent, place, until);
    return await replay(ctx, work, place, settled(current, later));
  } finally {
    // A transaction that has taken the key does so when it ends.
    if (!current.isClaimed) current.settle(null);
  }
}

function settled(attempt: Attempt, response: StoredResponse): StoredResponse {
  // Those that wait have to learn that the response is outdated too, so they look it up themselves.
  if (!response.isOutdated) attempt.settle(response.sealed);
  return response;
}

/** Waits for the transaction of another process. */
async function committedElsewhere(
  ctx: BaseContext,
  { store }: Idempotent,
  place: KeyPlace,
  until: number,
): Promise<StoredResponse> {
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(2 * pause, MAX_POLL_MS)) {
    // In this order: a transaction that ends in between has committed before the response is looked up.
    const isFree = await store.isFree(place);
    const found = await store.find(place);
    if (found !== null) return found;
    if (isFree || ctx.isAborted || performance.now() + pause > until) throw inProgress();
    await sleep(pause);
  }
}

/** Rejects with 409 after the time limit, and when the client disconnects. */
async function within<T>(until: number, running: Promise<T>, ctx: BaseContext): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(inProgress()), Math.max(0, until - performance.now()));
  const unwatch = ctx.watchAbort(() => over.reject(inProgress()));
  try {
    return await Promise.race([running, over.promise]);
  } finally {
    clearTimeout(timer);
    unwatch();
  }
}

function seal(ctx: BaseContext, request: string, place: KeyPlace, response: Response): Uint8Array {
  const { status, headers, body, fields = [] } = response;
  const isKept = body !== null && Buffer.byteLength(body) <= MAX_BYTES;
  const grants = grantsDigest(ctx.identity);
  const kept = isKept ? { status, headers, body } : { status, headers: {}, body: null };
  return sealResponse({ ...kept, fields, request, grants }, place, ctx.services.paging.keys);
}

function replay<T>(
  ctx: BaseContext,
  work: OnceWork<T>,
  place: KeyPlace,
  { sealed, isOutdated }: StoredResponse,
): T | Promise<T> {
  const kept = openResponse(sealed, place, ctx.services.paging.keys);
  if (kept !== null && kept.request !== work.request)
    throw new HttpException(422, "This idempotency key was used for another request: use a new key", {
      code: "IDEMPOTENCY_KEY_REUSED",
    });
  if (isOutdated || (kept !== null && kept.grants !== grantsDigest(ctx.identity)))
    throw alreadyDone("your access has changed since then, so its response is not sent again");
  if (kept === null) throw alreadyDone("its response can no longer be read");
  const { body } = kept;
  if (body === null) throw alreadyDone("its response was not stored");
  return work.replay({ ...kept, body });
}

/** 409 for a request that was done, and whose response cannot be sent again. */
export function alreadyDone(reason: string): HttpException {
  return new HttpException(409, `This request was already done, and ${reason}`, { code: "ALREADY_DONE" });
}

/** The header of a response that is sent again. */
export const REPLAYED: Readonly<Record<string, string>> = { "idempotent-replayed": "true" };
