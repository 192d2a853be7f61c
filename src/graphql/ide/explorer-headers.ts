import { htmlHeaders } from "../../http/html/html-headers.ts";

/** The headers of an explorer page that loads these scripts and styles. */
export function explorerHeaders(scripts: readonly string[], styles: readonly string[]): ReturnType<typeof htmlHeaders> {
  return htmlHeaders({
    "script-src": scripts,
    // The editor adds styles to the page at run time, and creates its workers from blobs.
    "style-src": ["'unsafe-inline'", ...styles],
    "worker-src": ["blob:"],
    "img-src": ["data:"],
    "font-src": ["data:"],
  });
}
