import { docsAddress, sectionOf } from "./advice/docs-address.ts";
import { PorticoError } from "./portico-error.ts";

/**
 * Thrown while an application is being set up, never while it serves requests: an option has an invalid value.
 *
 * The message names the option, the expected value and the value received:
 * `rateLimit.perMinute must be a positive integer, received -1`. `docs` is the address of the section that explains it.
 *
 * @example
 * ```ts
 * import { ConfigurationError, PorticoApp } from "portico";
 *
 * try {
 *   new PorticoApp({ publicUrl: "shop.example" });
 * } catch (error) {
 *   console.error(error instanceof ConfigurationError && error.option); // PorticoApp.publicUrl
 * }
 * ```
 */
export class ConfigurationError extends PorticoError {
  override readonly name: string = "ConfigurationError";
  /** The path of the option: `rateLimit.perMinute`. */
  readonly option: string;
  /** The address of the section of the documentation about the option. Node prints it below an uncaught error. */
  override readonly docs: string;

  /** With a received value, `expected` completes "must be ..."; without one, it is the rest of the sentence. */
  constructor(option: string, expected: string, ...received: [value?: unknown]) {
    const rest = received.length === 0 ? expected : `must be ${expected}, received ${describeValue(received[0])}`;
    super("CONFIGURATION_INVALID", `${option} ${rest}`);
    this.option = option;
    this.docs = docsAddress(sectionOf(option));
    // No response has them, and Node prints what can be enumerated below an uncaught error.
    Object.defineProperties(this, { status: { enumerable: false }, headers: { enumerable: false } });
    this.stack = fromCaller(this.stack);
  }
}

/** In the stack, module URLs contain it, and so do the paths of files that a test runner evaluates. */
const OWN_FOLDER: string = new URL("..", import.meta.url).pathname;

/**
 * The stack without the frames of Portico at its top: it begins with the line of the application that is wrong. An application
 * that is bundled with Portico keeps the whole stack.
 */
function fromCaller(stack = ""): string {
  const lines = stack.split("\n");
  const caller = lines.findIndex((line) => isFrame(line) && !isOwnFrame(line) && !line.includes("node:"));
  return caller < 0 ? stack : [...lines.slice(0, lines.findIndex(isFrame)), ...lines.slice(caller)].join("\n");
}

function isFrame(line: string): boolean {
  return line.startsWith("    at ");
}

/** Callbacks of built-in functions, such as `Array.map`, stand between two frames of Portico. */
function isOwnFrame(line: string): boolean {
  return line.endsWith("(<anonymous>)") || line.includes(OWN_FOLDER);
}

const MAX_LENGTH = 60;

/**
 * A short description for a message. Objects and functions are described only by their kind, because their content could be a
 * secret. A URL is shown without its password.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    const shown = value.replace(/:\/\/([^/?#:@]*):\S*@/g, "://$1:***@");
    return JSON.stringify(shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}...` : shown);
  }
  if (typeof value === "function") return value.name === "" ? "a function" : `the function ${value.name}`;
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value)
      ? `an array of ${value.length}`
      : `an object (${value.constructor?.name ?? "no class"})`;
  }
  return String(value);
}

/** Describes a value without its content, because a string in the wrong place may be a secret. */
export function describeKind(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value !== "string") return describeValue(value);
  return value === "" ? "an empty string" : `a string of ${Buffer.byteLength(value)} bytes`;
}
