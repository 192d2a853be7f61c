import { createHash } from "node:crypto";
import { loggable } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  flag,
  type OptionRule,
  optional,
  positiveInteger,
  REFUSED,
  resolveOptions,
} from "../../core/resolve-options.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { BadRequest, HttpException } from "../../kernel/exceptions/http-exception.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import { GuardedCounter } from "../../kernel/limits/guarded-counter.ts";
import { isRecord, type RequestParams } from "../request/request-params.ts";
import { KeptDocuments } from "./kept-documents.ts";

/** Looks up trusted documents by their id. */
export interface DocumentSource {
  get(id: string): MaybePromise<string | null | undefined>;
}

/** The options of documents that a request refers to instead of sending them. */
export interface DocumentsOptions {
  /**
   * Trusted documents by id, extracted from the clients by a build step: a manifest, or an object that looks them up.
   */
  readonly trusted?: Readonly<Record<string, string>> | DocumentSource;
  /** Whether only trusted documents may run, which is the strongest limit. @default false */
  readonly only?: boolean;
  /** Whether clients may register documents by their hash (automatic persisted queries). @default false */
  readonly automatic?: boolean;
  /** How long a registered document is kept, in seconds. @default 86,400 */
  readonly keepSeconds?: number;
}

/** The document of a request. */
export interface ResolvedDocument {
  readonly source: string;
  /** Stores the document for later requests. Called after it has been found valid and within the limits. */
  readonly keep: (() => Promise<void>) | null;
}

const trusted: OptionRule<DocumentSource> = {
  expected: "an object of documents by id, or an object with the method get(id)",
  read(value) {
    if (!isRecord(value)) return REFUSED;
    if (typeof value["get"] === "function") return value as unknown as DocumentSource;
    if (!Object.values(value).every((text) => typeof text === "string")) return REFUSED;
    const manifest = new Map(Object.entries(value as Record<string, string>));
    return { get: (id) => manifest.get(id) };
  },
};

const documentRules = {
  trusted,
  only: optional(flag, false),
  automatic: optional(flag, false),
  keepSeconds: optional(positiveInteger, 86_400),
};

/** In bytes of UTF-8. Longer documents are not kept, because any client can register them. */
const MAX_KEPT_LENGTH = 16_384;
/** After a store failure, the store is not used for this time. Meanwhile clients send full documents. */
const RETRY_STORE_MS = 5_000;
/** Per address and minute: enough for an application with many documents, but too few to fill the store. */
const MAX_REGISTRATIONS = 120;
const ID = /^[\w.:/+=-]{1,200}$/;
const HASH = /^[0-9a-f]{64}$/;

/** Finds the document of a request: sent with it, trusted, or registered before. */
export class Documents {
  readonly #options: ReturnType<typeof resolveDocuments>;
  readonly #registrations = new GuardedCounter("Graph.documents");
  #isFailingUntil = 0;

  constructor(options: DocumentsOptions = {}) {
    this.#options = resolveDocuments(options);
  }

  find(params: RequestParams, ctx: BaseContext): MaybePromise<ResolvedDocument> {
    const hash = hashOf(params);
    const id = params.documentId ?? hash;
    if (id !== null) return this.#findNamed(id, hash, params.query, ctx);
    if (this.#options.only) throw notTrusted();
    return { source: given(params.query), keep: null };
  }

  /** Finds the document of a request that names it, whether it sends the text too or not. */
  async #findNamed(id: string, hash: string | null, query: string | null, ctx: BaseContext): Promise<ResolvedDocument> {
    if (!ID.test(id))
      throw new BadRequest("The document id must have 1 to 200 characters: letters, digits and . _ : / + = -");
    const known = (await this.#options.trusted?.get(id)) ?? null;
    if (known !== null) return { source: known, keep: null };
    if (this.#options.only) throw notFound();
    if (hash !== null && this.#options.automatic) return this.#automatic(hash, query, ctx);
    if (query === null) throw notFound();
    return { source: given(query), keep: null };
  }

  async #automatic(hash: string, query: string | null, ctx: BaseContext): Promise<ResolvedDocument> {
    const { clock, stores } = ctx.services;
    const documents = new KeptDocuments(stores.durable, clock);
    if (query === null) {
      const kept = await this.#try(ctx, () => documents.get(hash));
      if (kept === null) throw notFound();
      return { source: kept, keep: null };
    }
    if (createHash("sha256").update(query).digest("hex") !== hash) {
      throw new HttpException(400, "The hash does not match the document", { code: "PERSISTED_QUERY_MISMATCH" });
    }
    const keepMs = this.#options.keepSeconds * 1000;
    const keep = async (): Promise<void> => {
      await this.#try(ctx, () => documents.keep(hash, query, keepMs, () => this.#mayRegister(ctx)));
    };
    return { source: given(query), keep: Buffer.byteLength(query) > MAX_KEPT_LENGTH ? null : keep };
  }

  /** If the store fails, the document is treated as unknown: the client sends the full document, and it runs. */
  async #try<T>({ services }: BaseContext, operation: () => Promise<T>): Promise<T | null> {
    if (services.clock.monotonic() < this.#isFailingUntil) return null;
    try {
      return await operation();
    } catch (err) {
      this.#isFailingUntil = services.clock.monotonic() + RETRY_STORE_MS;
      services.log.error({ err: loggable(err) }, "Graph.documents: the store failed; clients must send full documents");
      return null;
    }
  }

  /** Beyond the limit a document runs but is not stored, so that no client can fill the store. */
  async #mayRegister({ services, request }: BaseContext): Promise<boolean> {
    const key = `documents:${addressBucket(request.ip)}`;
    const { value } = await this.#registrations.increment(services, services.stores.counters, key, 60_000);
    return value <= MAX_REGISTRATIONS;
  }
}

function resolveDocuments(options: DocumentsOptions): {
  readonly trusted: DocumentSource | undefined;
  readonly only: boolean;
  readonly automatic: boolean;
  readonly keepSeconds: number;
} {
  return resolveOptions("Graph.documents", options, documentRules);
}

/** The hash in a request that uses automatic persisted queries. */
function hashOf({ extensions }: RequestParams): string | null {
  const persisted = Object.hasOwn(extensions, "persistedQuery") ? extensions["persistedQuery"] : undefined;
  if (persisted === undefined || persisted === null) return null;
  const hash = isRecord(persisted) && Object.hasOwn(persisted, "sha256Hash") ? persisted["sha256Hash"] : undefined;
  if (typeof hash === "string" && HASH.test(hash)) return hash;
  throw new BadRequest(
    "extensions.persistedQuery.sha256Hash must be the SHA-256 hash of a document, as 64 lowercase hexadecimal digits",
  );
}

function given(query: string | null): string {
  if (query === null || query.trim() === "") throw new BadRequest("The request contains no document");
  return query;
}

function notFound(): HttpException {
  // Some clients recognise this message, not the code, and then send the full document.
  return new HttpException(400, "PersistedQueryNotFound", { code: "PERSISTED_QUERY_NOT_FOUND" });
}

function notTrusted(): HttpException {
  return new HttpException(403, "Only trusted documents are allowed. Send the id of a trusted document.", {
    code: "DOCUMENT_NOT_TRUSTED",
  });
}
