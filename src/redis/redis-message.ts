import { isEvent } from "../stores/pub-sub.ts";

/** An event on its way: its text, and who sent it as which of his. */
export interface RedisMessage {
  readonly text: string;
  /** `null` for one that another program has sent, as plain JSON. */
  readonly sender: string | null;
  /** Counts the events of the sender. */
  readonly number: number;
}

// No JSON begins with it.
const MARK = "@";
const HEAD = /^@(?<sender>[\w-]+)\.(?<number>\d+) /;

export function writeMessage({ sender, number, text }: RedisMessage & { readonly sender: string }): string {
  return `${MARK}${sender}.${number} ${text}`;
}

/** The event in what was received, or `null`: anybody who reaches the server may send anything. */
export function readMessage(message: string): RedisMessage | null {
  const head = message.startsWith(MARK) ? HEAD.exec(message) : null;
  const text = message.slice(head?.[0].length ?? 0);
  if (!isEvent(text)) return null;
  const { sender = null, number = 0 } = head?.groups ?? {};
  return { text, sender, number: Number(number) };
}
