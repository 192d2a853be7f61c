type Browser = "Edge" | "Opera" | "Samsung Internet" | "Firefox" | "Chrome" | "Safari";
type System = "iPhone" | "iPad" | "Android" | "ChromeOS" | "Windows" | "macOS" | "Apple device" | "Linux";

/** The first match wins, because browsers also name the browsers they descend from. */
const BROWSERS: readonly (readonly [RegExp, Browser])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, System])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\b(?:Android|okhttp)\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bDarwin\b/, "Apple device"],
  [/\bLinux\b/, "Linux"],
];

/**
 * The name of a device. It consists of words of this file only, so that an email or a page that shows it cannot contain text
 * that the sender of a request chose.
 */
export type DeviceLabel = `${Browser | "App"} on ${System}` | Browser | "Unknown device";

/** Returns a short name for the device of a `User-Agent` header: "Firefox on Linux", "App on iPhone". */
export function deviceLabel(userAgent: string | undefined): DeviceLabel {
  const text = (userAgent ?? "").slice(0, 1_000);
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(text))?.[1];
  if (system !== undefined) return `${browser ?? "App"} on ${system}`;
  return browser ?? "Unknown device";
}
