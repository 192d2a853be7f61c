import { isEvent } from "./pub-sub.ts";

/** An event in transit: its text, its sender and its number. */
export interface BusMessage {
  readonly text: string;
  /** `null` for plain JSON that another program sent. */
  readonly sender: string | null;
  /** The number of the event among the sender's events. */
  readonly number: number;
}

// JSON never starts with this character.
const MARK = "@";
const HEAD = /^@(?<sender>[\w-]+)\.(?<number>\d+) /;

export function writeMessage({ sender, number, text }: BusMessage & { readonly sender: string }): string {
  return `${MARK}${sender}.${number} ${text}`;
}

/**
 * Returns the event in a message, or `null` if there is none, because any client of the server can publish anything.
 */
export function readMessage(message: string): BusMessage | null {
  const head = message.startsWith(MARK) ? HEAD.exec(message) : null;
  const text = message.slice(head?.[0].length ?? 0);
  if (!isEvent(text)) return null;
  const { sender = null, number = 0 } = head?.groups ?? {};
  return { text, sender, number: Number(number) };
}
