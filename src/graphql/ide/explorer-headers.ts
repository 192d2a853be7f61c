import { htmlHeaders } from "../../http/html/html-headers.ts";

/** The headers of a page with the explorer, by the scripts and styles that it loads. */
export function explorerHeaders(scripts: readonly string[], styles: readonly string[]): ReturnType<typeof htmlHeaders> {
  return htmlHeaders({
    "script-src": scripts,
    // The editor writes styles into the page while it is used, and makes its workers from blobs.
    "style-src": ["'unsafe-inline'", ...styles],
    "worker-src": ["blob:"],
    "img-src": ["data:"],
    "font-src": ["data:"],
  });
}
