import { inBackground } from "../../core/work/in-background.ts";
import type { ServerSocket } from "../../http/messages/server-socket.ts";
import type { OnRecheck, Readmit } from "../../http/serving/serve-socket.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import type { WebSocketContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { isForClients } from "../../kernel/exceptions/is-for-clients.ts";
import type { SocketMessage } from "../../kernel/exchange/socket.ts";
import { checkCredential } from "../../kernel/identity/check-credential.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { openRequest } from "../pipeline/run-request.ts";
import { readRequestParams } from "../request/request-params.ts";
import type { ResponseBody } from "../respond/operation-response.ts";
import { type EventSink, type LiveSubscription, onlyResponse, recheck } from "../streams/live-subscription.ts";
import { type ClientMessage, readClientMessage } from "./client-message.ts";
import type { Subscriptions } from "./subscriptions.ts";

export const PROTOCOL = "graphql-transport-ws";

/** The parts of a conversation. */
export interface ConversationOptions {
  readonly pipeline: Pipeline;
  readonly subscriptions: Subscriptions;
  /** The gate of the endpoint's route. */
  readonly gate: Gate | undefined;
  readonly socket: ServerSocket;
  readonly ctx: WebSocketContext;
  readonly readmit: Readmit;
  readonly onRecheck: OnRecheck;
}

/** An operation of the socket, from its message to its end. */
interface SocketOperation {
  live: LiveSubscription | null;
  /** Cancels a query or a mutation that has started. */
  abort: (() => void) | null;
  isLeft: boolean;
  /** The length of its message: the variables stay in memory while it runs, where they take many times that length. */
  readonly length: number;
}

/** The total length of the messages of one socket's operations: two messages of the maximum size. */
const MAX_HELD = 2 ** 21;

/** One socket with the `graphql-transport-ws` protocol, from its first message to its end. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #socket: ServerSocket;
  readonly #operations = new Map<string, SocketOperation>();
  /** The number of operations that the client has left and that have not ended yet. */
  #leaving = 0;
  #initTimer: NodeJS.Timeout | undefined;
  /** Replaced if `connection_init` has a credential. */
  #ctx: WebSocketContext;
  #state: "new" | "initialising" | "ready" = "new";

  constructor(options: ConversationOptions) {
    const { socket, ctx, subscriptions } = options;
    this.#options = options;
    this.#socket = socket;
    this.#ctx = ctx;
    this.#initTimer = setTimeout(
      () => socket.close(4408, "Connection initialisation timeout"),
      subscriptions.initSeconds * 1000,
    ).unref();
  }

  /** Runs until the socket is closed. */
  run(): Promise<void> {
    const socket = this.#socket;
    socket.onEnding(() => this.#end());
    socket.onBeat(() => {
      for (const { live } of this.#operations.values()) live?.keepYoung?.();
    });
    this.#options.onRecheck(() => this.#recheck());
    socket.consume((message) => withContext(this.#ctx, () => this.#receive(message)));
    return socket.closed;
  }

  /** Catches every error, because one thrown in an event of the socket would end the process. */
  #receive(data: SocketMessage): void {
    try {
      this.#handle(data);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #handle(data: SocketMessage): void {
    const message = readClientMessage(data);
    if (message === null) return this.#socket.close(4400, "invalid graphql-transport-ws message");
    switch (message.type) {
      case "connection_init":
        return this.#init(message);
      case "subscribe":
        return this.#subscribe(message, data.length);
      case "complete":
        return this.#leave(message.id);
      case "ping":
        return this.#send({ type: "pong", payload: message.payload });
      case "pong":
    }
  }

  #init({ payload }: ClientMessage & { readonly type: "connection_init" }): void {
    if (this.#state !== "new") return this.#socket.close(4429, "Too many initialisation requests");
    this.#state = "initialising";
    this.#stopWaiting();
    inBackground(this.#admit(payload));
  }

  async #admit(payload: Readonly<Record<string, unknown>>): Promise<void> {
    const { gate, readmit } = this.#options;
    try {
      const credential = initCredential(payload);
      if (credential !== null) this.#ctx = await readmit(credential);
      checkCredential(this.#ctx.identity);
      await gate?.check(this.#ctx);
      this.#state = "ready";
      this.#send({ type: "connection_ack" });
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Closes with 4403, because clients do not reconnect after 4401, or with 1013 for a temporary error. */
  #refuse(error: unknown): void {
    if (!isForClients(error)) {
      logFailure(this.#ctx.services, this.#ctx.exchange, error);
      return this.#socket.close(1011, "internal error");
    }
    const isLater = error.status === 503 || error.status === 429;
    this.#socket.close(isLater ? 1013 : 4403, fitting(error.message, "rejected"));
  }

  #subscribe({ id, payload }: ClientMessage & { readonly type: "subscribe" }, length: number): void {
    if (this.#state !== "ready") return this.#socket.close(4401, "Unauthorized");
    if (this.#operations.has(id))
      return this.#socket.close(4409, fitting(`Subscriber for ${id} already exists`, "Subscriber already exists"));
    // A client that reconnects reaches another process.
    if (this.#ctx.services.connections.isLeaving) return this.#socket.close(1001, "Going away");
    this.#run(id, payload, length).catch((error: unknown) => this.#refuse(error));
  }

  async #run(id: string, payload: Readonly<Record<string, unknown>>, length: number): Promise<void> {
    const { pipeline, subscriptions } = this.#options;
    const operation: SocketOperation = { live: null, abort: null, isLeft: false, length };
    const held = this.#operations.values().reduce((sum, other) => sum + other.length, length);
    const isOneTooMany = Math.max(this.#operations.size, this.#leaving) >= subscriptions.maxPerSocket;
    const isTooMuch = held > MAX_HELD;
    if (!isOneTooMany && !isTooMuch) this.#operations.set(id, operation);
    const read = (): ReturnType<typeof readRequestParams> => {
      if (isOneTooMany)
        throw tooMany(`Too many operations at once: the limit per WebSocket is ${subscriptions.maxPerSocket}`);
      if (isTooMuch) throw tooMany(`The operations of a WebSocket may have at most ${MAX_HELD} characters in total`);
      return readRequestParams(payload);
    };
    const opened = await openRequest(pipeline, this.#ctx, read, {
      isAlone: false,
      isGet: false,
      isFurther: true,
      takes: subscriptions.operations ? "either" : "stream",
      onStart: (abort) => {
        operation.abort = abort;
        if (operation.isLeft) abort();
      },
    });
    const live = opened.kind === "response" ? onlyResponse(opened) : opened;
    operation.live = live;
    if (operation.isLeft) await this.#free(live);
    else live.start(this.#sink(id, operation));
  }

  #sink(id: string, operation: SocketOperation): EventSink {
    const socket = this.#socket;
    const named = `{"id":${JSON.stringify(id)},"type":`;
    const over = (): void => {
      if (this.#operations.get(id) === operation) this.#operations.delete(id);
    };
    return {
      next(text) {
        socket.send(`${named}"next","payload":${text}}`);
        return socket.pause;
      },
      position(position) {
        socket.send(JSON.stringify({ type: "ping", payload: { id, extensions: { position } } }));
      },
      error(text) {
        over();
        const { errors } = JSON.parse(text) as ResponseBody;
        socket.send(`${named}"error","payload":${JSON.stringify(errors)}}`);
      },
      complete() {
        over();
        socket.send(`${named}"complete"}`);
      },
    };
  }

  #leave(id: string): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    this.#operations.delete(id);
    operation.isLeft = true;
    this.#leaving++;
    operation.abort?.();
    if (operation.live !== null) inBackground(this.#free(operation.live));
  }

  /** Frees the place of an operation only after it has ended, or clients could exceed the limit by leaving operations. */
  async #free(live: LiveSubscription): Promise<void> {
    await live.leave();
    this.#leaving--;
  }

  #recheck(): Promise<void> {
    return recheck(
      this.#ctx,
      [...this.#operations.values()].flatMap(({ live }) => live ?? []),
    );
  }

  #end(): void {
    this.#stopWaiting();
    for (const id of this.#operations.keys()) this.#leave(id);
  }

  #stopWaiting(): void {
    clearTimeout(this.#initTimer);
    this.#initTimer = undefined;
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}

/** RFC 6455 section 5.5: a close frame has room for a reason of 123 bytes. */
function fitting(reason: string, short: string): string {
  return Buffer.byteLength(reason) > 123 ? short : reason;
}

function tooMany(sentence: string): HttpException {
  return new HttpException(429, sentence, { code: "TOO_MANY_SUBSCRIPTIONS" });
}

/** The headers that a browser cannot send with an upgrade request. */
const CREDENTIALS: readonly string[] = ["authorization", "x-api-key"];
/** The characters that Node accepts in a header. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** Reads the credential in the payload of `connection_init` as headers; `null` without one. Names are case-insensitive. */
function initCredential(payload: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | null {
  const found = Object.entries(payload).filter(
    (entry): entry is [string, string] =>
      CREDENTIALS.includes(entry[0].toLowerCase()) && typeof entry[1] === "string" && VALUE.test(entry[1]),
  );
  return found.length === 0
    ? null
    : Object.fromEntries(found.map(([name, value]) => [name.toLowerCase(), value.trim()]));
}
