import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { SHORT_JSON } from "../../core/read-json.ts";
import { workTurns } from "../../core/work/event-loop-turns.ts";
import { decodeUtf8, mediaType, parseJson } from "../../http/messages/read-body.ts";
import { countHeaders } from "../../http/text/count-headers.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { BadRequest, UnsupportedMediaType } from "../../kernel/exceptions/http-exception.ts";
import type { Exchange } from "../../kernel/exchange/exchange.ts";
import { batchRefused, checkBatch } from "../request/check-batch.ts";
import { type RequestParams, readRequestParams, readTextParams } from "../request/request-params.ts";
import { receiveUpload } from "../uploads/receive-upload.ts";
import type { Uploads } from "../uploads/uploads.ts";
import type { Transport } from "./transport.ts";

/** The content of a request: one operation, or the unchecked entries of a batch. */
export type GraphRequest = (
  | { readonly kind: "single"; readonly params: RequestParams }
  | { readonly kind: "batch"; readonly entries: readonly unknown[] }
) & {
  /** Releases the uploaded files. */
  readonly dispose?: () => Promise<void>;
};

/** Reads requests of one content type. */
export interface RequestReader {
  /** Whether a page of another origin can make a browser send such a request without a preflight. */
  readonly isForgeable: boolean;
  read(ctx: HttpContext): MaybePromise<GraphRequest>;
}

export interface ReaderOptions {
  readonly transport: Transport;
  readonly uploads: Uploads;
}

/** The readers of one endpoint. */
export class RequestReaders {
  readonly #json: RequestReader;
  readonly #upload: RequestReader | null;

  constructor(options: ReaderOptions) {
    this.#json = jsonReader(options.transport);
    this.#upload = options.uploads.enabled ? uploadReader(options) : null;
  }

  /** Chooses a reader by method and content type, before the body is read; 415 if none fits. */
  choose(exchange: Exchange): RequestReader {
    const contentType = exchange.headers["content-type"];
    const { type, charset } = mediaType(contentType);
    if (countHeaders(exchange.rawHeaders, "content-type") > 1)
      throw new UnsupportedMediaType("sent more than once", "of a single type");
    if (charset !== null && charset !== "utf-8" && charset !== "utf8")
      throw new UnsupportedMediaType(contentType, "encoded in UTF-8");
    if (exchange.method !== "POST") {
      if (type === "" || type === "application/json") return urlReader;
      throw new UnsupportedMediaType(contentType, "empty for a GET request");
    }
    if (type === "application/json") return this.#json;
    if (type === "application/graphql") return textReader;
    if (type === "application/x-www-form-urlencoded") return formReader;
    if (type === "multipart/form-data" && this.#upload !== null) return this.#upload;
    throw new UnsupportedMediaType(
      contentType,
      this.#upload === null ? "application/json" : "application/json, or multipart/form-data for uploads",
    );
  }
}

/** Whether the URL names an operation by its text, its id or its hash. */
export function carriesQuery(exchange: Exchange): boolean {
  const pairs = urlPairs(exchange);
  return ["query", "documentId", "extensions"].some((name) => pairs.has(name));
}

const urlReader: RequestReader = {
  isForgeable: true,
  read({ exchange }) {
    return { kind: "single", params: readPairs(urlPairs(exchange)) };
  },
};

function urlPairs({ target }: Exchange): URLSearchParams {
  return new URLSearchParams(target.split("?").slice(1).join("?"));
}

/** A request has five parameters. Without this limit, a large body would be parsed for a second. */
const MAX_PAIRS = 100;

const formReader: RequestReader = {
  isForgeable: true,
  async read({ incoming }) {
    const text = readText(await incoming.bytes());
    if (text.trimStart().startsWith("[")) throw batchRefused("A batch must be sent as a JSON body");
    if (text.split("&", MAX_PAIRS + 1).length > MAX_PAIRS)
      throw new BadRequest(`A form may have at most ${MAX_PAIRS} fields`);
    return { kind: "single", params: readPairs(new URLSearchParams(text)) };
  },
};

const textReader: RequestReader = {
  isForgeable: false,
  async read({ incoming }) {
    return { kind: "single", params: readRequestParams({ query: readText(await incoming.bytes()) }) };
  },
};

function jsonReader({ batch }: Transport): RequestReader {
  const parse = (bytes: Buffer): GraphRequest => {
    const body = parseJson(bytes);
    if (!Array.isArray(body)) return { kind: "single", params: readRequestParams(body) };
    checkBatch(body, batch);
    return { kind: "batch", entries: body };
  };
  return {
    isForgeable: false,
    read({ incoming }) {
      return andThen(incoming.bytes(), (bytes) =>
        andThen(bytes.length > SHORT_JSON ? workTurns.take() : undefined, () => parse(bytes)),
      );
    },
  };
}

function uploadReader({ uploads, transport }: ReaderOptions): RequestReader {
  return {
    isForgeable: true,
    async read({ exchange, signal }) {
      // Reading the body tells a client that sent `Expect: 100-continue` to send it, so the headers are checked first.
      const source = {
        headers: exchange.headers,
        get stream() {
          return exchange.body();
        },
      };
      const { maxBody, batch } = transport;
      const { operations, dispose } = await receiveUpload(source, { uploads, maxBody, batch, signal });
      if (Array.isArray(operations)) return { kind: "batch", entries: operations, dispose };
      try {
        return { kind: "single", params: readRequestParams(operations), dispose };
      } catch (error) {
        await dispose();
        throw error;
      }
    },
  };
}

function readPairs(pairs: URLSearchParams): RequestParams {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (values.has(name))
      throw new BadRequest(`The parameter ${JSON.stringify(name.slice(0, 40))} was sent more than once`);
    values.set(name, value);
  }
  // A document never begins with a bracket.
  if (values.get("query")?.trimStart().startsWith("[") === true)
    throw batchRefused("A batch must be sent as a JSON body");
  return readTextParams(values);
}

function readText(bytes: Buffer): string {
  const text = decodeUtf8(bytes);
  if (text === null) throw new BadRequest("The body is not valid UTF-8");
  return text;
}
