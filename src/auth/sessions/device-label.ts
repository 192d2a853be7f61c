const LONGEST = 120;

/** By the first that matches: browsers name those they descend from as well. */
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
 * A short name for the device that a `User-Agent` speaks of: "Firefox on Linux", or what it says of itself, without what
 * cannot be printed and at most 120 characters.
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
