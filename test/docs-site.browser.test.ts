import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtPages } from "../scripts/docs/built-pages.ts";
import { root } from "../scripts/package/repository.ts";
import { isBrowserMissing, visit } from "./browser.ts";

const PAGES = ["index", "guide/quick-start", "guide/tutorial", "guide/authorization", "performance", "errors"];
/** Pages with the widest tables and diagrams, which are visited on a phone only. */
const WIDE = ["comparison", "guide/durable-events"];
const MIN_CONTRAST = 4.5;

const files = [...PAGES, ...WIDE].map((page) => `${page}.md`);
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
    // A phone is too narrow for most samples, but not for tables and diagrams.
    expect(device === "desktop" ? faults.scrolling : faults.wide).toEqual([]);
  });
});

describe.skipIf(isBrowserMissing)("the widest pages on a phone", () => {
  it.each(WIDE)("%s fits the window", async (path) => {
    const { page, picture } = await visit(site?.url ?? "", { viewport: { width: 390, height: 844 } });
    await page.goto(`${site?.url}/${path}`);
    await page.evaluate(() => document.fonts.ready);
    await picture(`docs-${path.replace("/", "-")}-phone`);

    const { beyond, wide } = await page.evaluate(faultsOf, MIN_CONTRAST);

    expect({ beyond, wide }).toEqual({ beyond: 0, wide: [] });
  });
});

/** Runs in the page: pixels beyond its width, code, tables and pictures that scroll sideways, and text that is too pale for its ground. */
function faultsOf(minContrast: number): { beyond: number; scrolling: string[]; wide: string[]; pale: string[] } {
  const { scrollWidth, clientWidth } = document.documentElement;
  const isScrolling = (box: HTMLElement): boolean => box.scrollWidth > box.clientWidth;
  const code = [...document.querySelectorAll<HTMLElement>(".vp-doc pre, .error-codes table")].filter(isScrolling);
  const wide = [...document.querySelectorAll<HTMLElement>(".vp-doc table, .vp-doc p:has(> img)")].filter(isScrolling);
  // The code beside the headline wraps instead.
  const wrapped = [...document.querySelectorAll<HTMLElement>(".hero-code .line")].filter(
    (line) => new Set([...line.children].flatMap((part) => [...part.getClientRects()].map(({ top }) => top))).size > 1,
  );
  const start = ({ innerText, innerHTML }: HTMLElement): string => (innerText || innerHTML).slice(0, 80);
  const scrolling = [...code, ...wrapped].map(start);
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
  return { beyond: scrollWidth - clientWidth, scrolling, wide: wide.map(start), pale: [...pale].slice(0, 10) };
}
