import { type FileName, readFileName } from "../../http/text/file-name.ts";
import { parseParameters } from "../../http/text/parameterized-header.ts";
import type { PartHeaders } from "./multipart-parts.ts";
import { uploadInvalid } from "./upload-invalid.ts";

/** The headers of a part, parsed. */
export interface PartDescription {
  readonly name: string;
  /** Empty if there is none. */
  readonly filename: FileName;
  /** Exactly as sent. */
  readonly contentType: string | undefined;
}

/** Reads the headers of a part (RFC 7578 section 4.2). Rejects a part without a name, and an invalid file name. */
export function describePart(headers: PartHeaders): PartDescription {
  const disposition = parseParameters(onlyOne(headers, "content-disposition") ?? "");
  const name = disposition?.parameters.get("name");
  if (disposition?.value !== "form-data" || name === undefined) throw uploadInvalid("A part of the body has no name");
  const { parameters } = disposition;
  const filename = extended(parameters.get("filename*")) ?? plain(parameters.get("filename") ?? "");
  return { name: plain(name), filename: readFileName(filename), contentType: onlyOne(headers, "content-type") };
}

function onlyOne(headers: PartHeaders, name: string): string | undefined {
  const values = headers[name] ?? [];
  if (values.length > 1) throw uploadInvalid(`A part of the body repeats the header ${name}`);
  return values[0];
}

/** Browsers send UTF-8, and escape these three characters with a percent sign. */
function plain(value: string): string {
  const escapes: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };
  return Buffer.from(value, "latin1")
    .toString("utf8")
    .replace(/%22|%0D|%0A/gi, (escaped) => escapes[escaped.toUpperCase()] as string);
}

/** RFC 8187: `UTF-8''na%C3%AFve.txt`. RFC 7578 forbids it in forms, but some clients send it. */
function extended(value: string | undefined): string | null {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? "")?.[1];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
