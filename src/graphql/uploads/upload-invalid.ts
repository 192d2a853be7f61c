import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** 400: the request does not follow the multipart request convention. */
export function uploadInvalid(message: string): HttpException {
  return new HttpException(400, message, { code: "UPLOAD_INVALID" });
}

/** 400: the file declares no type, or one that is not on the list. */
export function uploadTypeRefused(filename: string, type: string | undefined): HttpException {
  const declared = type === undefined ? "no type" : `the type ${quote(type)}`;
  return new HttpException(400, `The file ${quote(filename)} has ${declared}, which is not allowed`, {
    code: "UPLOAD_TYPE_REFUSED",
  });
}

/** 413: the upload exceeds a limit of `Uploads`. */
export function uploadTooLarge(message: string): HttpException {
  return new HttpException(413, message, { code: "PAYLOAD_TOO_LARGE" });
}

const MAX_LENGTH = 60;

/**
 * Quotes text of a client in a message. The text is shortened, and characters that break lines, are invisible or change the
 * direction of text are escaped.
 */
export function quote(text: string): string {
  const shown = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()}...` : text;
  return JSON.stringify(shown).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escape);
}

function escape(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
