import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { type PlainText, plainText } from "./plain-text.ts";

declare const file: unique symbol;

/** The name of an uploaded file: plain text without directories, of at most 255 characters. It may be empty. */
export type FileName = PlainText & { readonly [file]: true };

/** No file system has longer names. */
const MAX_LENGTH = 255;

/**
 * Reads the name of a file from a form. Directories are cut off, because some browsers send them and applications may
 * join the name to a path. Throws 400 for a name that no file of a person has: one that is too long, or that contains
 * control characters or characters that change the direction of text.
 */
export function readFileName(sent: string): FileName {
  const last = sent.slice(Math.max(sent.lastIndexOf("/"), sent.lastIndexOf("\\")) + 1);
  const name = plainText(last === "." || last === ".." ? "" : last, MAX_LENGTH);
  if (name !== null) return name as FileName;
  const message =
    last.length > MAX_LENGTH
      ? `The name of a file is longer than ${MAX_LENGTH} characters`
      : "The name of a file contains control characters, or characters that change the direction of text";
  throw new HttpException(400, message, { code: "FILE_NAME_INVALID" });
}
