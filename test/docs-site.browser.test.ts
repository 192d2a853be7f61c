import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtPages } from "../scripts/docs/built-pages.ts";
import { root } from "../scripts/package/repository.ts";
import { isBrowserMissing, visit } from "./browser.ts";

const PAGES = ["index", "guide/quick-start", "guide/tutorial", "guide/authorization", "performance", "errors"];
const MIN_CONTRAST = 4.5;

const files = PAGES.map((page) => `${page}.md`);
const site = isBrowserMissing ? null : await builtPages(root, join(root, ".cache/site"), files);
afterAll(() => site?.close());

const looks = (["light", "dark"] as const).flatMap((colorScheme) => [
  { colorScheme, device: "desktop", viewport: { width: 1440, height: 900 } },
  { colorScheme, device: "phone", viewport: { width: 390, height: 844 } },
]);

describe.skipIf(isBrowserMissing).each(looks)("the built site, $colorScheme on a $device", ({ device, ...options }) => {
  it.each(PAGES)("%s fits the window and can be read", async (path) => {
    const { page, elsewhere, picture } = await visit(site?.url ?? "", options);
    await page.goto(`${site?.url}/${path === "index" ? "" : path}`);
    await page.evaluate(() => document.fonts.ready);
    await picture(`docs-${path.replace("/", "-")}-${options.colorScheme}-${device}`);

    const faults = await page.evaluate(faultsOf, MIN_CONTRAST);

    expect(elsewhere).toEqual([]);
    expect(faults.beyond).toBe(0);
    expect(faults.pale).toEqual([]);
    // A phone is too narrow for most samples.
    expect(device === "desktop" ? faults.scrolling : []).toEqual([]);
  });
});

/** Runs in the page: pixels beyond its width, code that scrolls sideways, and text that is too pale for its ground. */
function faultsOf(minContrast: number): { beyond: number; scrolling: string[]; pale: string[] } {
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = [...document.querySelectorAll<HTMLElement>(".vp-doc pre, .error-codes table")].filter(
    (box) => box.scrollWidth > box.clientWidth,
  );
  // The code beside the headline wraps instead.
  const wrapped = [...document.querySelectorAll<HTMLElement>(".hero-code .line")].filter(
    (line) => new Set([...line.children].flatMap((part) => [...part.getClientRects()].map(({ top }) => top))).size > 1,
  );
  const scrolling = [...wide, ...wrapped].map(({ innerText }) => innerText.slice(0, 80));
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const painted = (colors: readonly string[]): readonly number[] => {
    if (canvas === null) throw new Error("there is no canvas");
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb: readonly number[]): number => {
    const [r = 0, g = 0, b = 0] = rgb.map((part) =>
      part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = (element: Element | null): string[] =>
    element === null ? ["white"] : [...grounds(element.parentElement), getComputedStyle(element).backgroundColor];
  const pale = new Set<string>();
  for (const element of document.querySelectorAll<HTMLElement>("main *, .VPHero *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
    if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const below = grounds(element);
    const [dark = 0, light = 0] = [painted(below), painted([...below, getComputedStyle(element).color])]
      .map(luminance)
      .toSorted((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < minContrast)
      pale.add(`${contrast.toFixed(1)}: ${element.className} ${element.innerText.slice(0, 40)}`);
  }
  return { beyond: scrollWidth - clientWidth, scrolling, pale: [...pale].slice(0, 10) };
}
