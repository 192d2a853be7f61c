import { WebSocket } from "ws";

const DOCUMENT = "subscription Changes($group: String!) { changes(group: $group) }";

interface Sent {
  readonly data?: { readonly changes?: string } | null;
  readonly errors?: unknown;
  readonly extensions?: { readonly position?: string };
}

/**
 * One subscriber of a group, on one process after another. Its events must be consecutive from the first one on, because each change
 * of a group has the next number. After a lost connection it resumes from its last position.
 */
export class ChangeStream {
  readonly #group: string;
  readonly #faults: string[];
  #connection = new AbortController();
  #position: string | undefined;
  #last: number | null = null;
  #count = 0;

  constructor(group: string, faults: string[]) {
    this.#group = group;
    this.#faults = faults;
  }

  get group(): string {
    return this.#group;
  }
  /** The number of its last event; `null` before the first. */
  get last(): number | null {
    return this.#last;
  }
  get count(): number {
    return this.#count;
  }

  /** Follows the group until the connection ends. */
  run(port: number, transport: "WebSocket" | "SSE"): Promise<void> {
    this.#connection = new AbortController();
    return (transport === "WebSocket" ? this.#runSocket(port) : this.#runStream(port)).catch(() => {});
  }

  /** Drops the connection. */
  drop(): void {
    this.#connection.abort();
  }

  #receive({ data, errors, extensions }: Sent): void {
    this.#position = extensions?.position ?? this.#position;
    if (errors !== undefined) this.#faults.push(`a subscription failed: ${JSON.stringify(errors)}`);
    if (data === undefined) return;
    const [group = "", n = ""] = (data?.changes ?? "").split(" ");
    const number = Number(n);
    this.#count++;
    if (group !== this.#group) this.#faults.push(`a subscriber of ${this.#group} received an event of ${group}`);
    else if (this.#last !== null && number !== this.#last + 1)
      this.#faults.push(`a subscriber of ${group} received ${number} after ${this.#last}`);
    this.#last = number;
  }

  get #operation(): object {
    return { query: DOCUMENT, variables: { group: this.#group }, extensions: { position: this.#position } };
  }

  async #runSocket(port: number): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, "graphql-transport-ws");
    this.#connection.signal.addEventListener("abort", () => socket.terminate());
    const closed = new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
      socket.on("error", () => resolve());
    });
    socket.on("open", () => socket.send(JSON.stringify({ type: "connection_init" })));
    socket.on("message", (data) => {
      const text = (data as Buffer).toString();
      const message = JSON.parse(text) as { type: string; payload?: Sent };
      if (message.type === "connection_ack")
        socket.send(
          JSON.stringify({
            type: "subscribe",
            id: "1",
            payload: this.#operation,
          }),
        );
      // A ping has the position of a quiet subscription.
      else if (message.type === "next" || message.type === "ping") this.#receive(message.payload ?? {});
      else if (message.type === "error") this.#faults.push(`a subscription failed: ${text}`);
    });
    await closed;
  }

  async #runStream(port: number): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify(this.#operation),
      signal: this.#connection.signal,
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (\{.*\})$/m.exec(event)?.[1];
        const id = /^id: (.+)$/m.exec(event)?.[1];
        if (data !== undefined) this.#receive(JSON.parse(data) as Sent);
        else if (id !== undefined) this.#position = id;
      }
    }
  }
}
