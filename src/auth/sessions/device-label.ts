const LONGEST = 120;

/** The first match wins, because browsers also name the browsers they descend from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/**
 * Returns a short name for the device of a `User-Agent` header: "Firefox on Linux", or the header itself without
 * unprintable characters and at most 120 characters long.
 */
export function deviceLabel(userAgent: string | undefined): string {
  const text = (userAgent ?? "")
    .slice(0, 1_000)
    .replace(/\p{C}+/gu, "")
    .trim();
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find(([pattern]) => pattern.test(text))?.[1]);
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return text === "" ? "Unknown device" : text.slice(0, LONGEST).trimEnd();
}
