import { createHash } from "node:crypto";
import type { Brand } from "../../http/html/brand.ts";
import { PAGE_STYLE } from "../../http/html/page-style.ts";
import type { ScriptTexts } from "../../http/html/page-texts.ts";
import type { PorticoResponse, TypedResponse } from "../../kernel/context/portico-response.ts";
import { PAGE_SCRIPT } from "./page-script.ts";

/** The files of the pages of an application. */
export interface PageFiles {
  readonly brand: Brand;
  readonly script: PageFile;
  readonly style: PageFile;
}

/** The script begins with its texts, so that browsers keep both. */
export function pageFiles(brand: Brand, { verifyEmail }: { readonly verifyEmail: boolean }): PageFiles {
  const { language, messages, problems } = brand.texts;
  const { invalid_credentials_or_unverified: unverified, ...others } = problems;
  const texts: ScriptTexts = {
    ...messages,
    language,
    problems: verifyEmail ? { ...others, invalid_credentials: unverified } : others,
  };
  return {
    brand,
    script: file("js", `var pageTexts=${JSON.stringify(texts)};${PAGE_SCRIPT}`),
    style: file("css", PAGE_STYLE + brand.style),
  };
}

interface PageFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The name changes with the content, so clients may cache the file without a limit. */
function file(ending: "js" | "css", text: string): PageFile {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name: `${hash}.${ending}`, type: `text/${ending === "js" ? "javascript" : "css"}; charset=utf-8`, text };
}

export function sendFile(response: PorticoResponse, { type, text }: PageFile): TypedResponse<unknown, number> {
  response
    .header("cache-control", "public, max-age=31536000, immutable")
    .header("x-content-type-options", "nosniff")
    .header("cross-origin-resource-policy", "same-origin");
  return response.bytes(Buffer.from(text), type);
}
