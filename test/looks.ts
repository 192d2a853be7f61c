import { expect } from "vitest";
import { axeFindings, scrollsSideways } from "./axe.ts";
import type { Visit } from "./browser.ts";

const SCHEMES = ["light", "dark"] as const;
/** A desktop at 200 % zoom has the width of the third one. */
const WIDTHS = [
  ["desktop", 1280],
  ["phone", 360],
  ["zoom", 640],
] as const;

/**
 * Looks at a page in each scheme on a desktop and on a phone: axe-core finds nothing, it fits without scrolling sideways, and a
 * picture is kept for people.
 */
export async function expectFinished(
  browser: Pick<Visit, "page" | "picture">,
  state: string,
  folder = "pages",
): Promise<void> {
  const { page, picture } = browser;
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const [device, width] of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      expect([state, device, await scrollsSideways(page)]).toEqual([state, device, false]);
      if (device === "zoom") continue;
      expect([state, colorScheme, device, ...(await axeFindings(page))]).toEqual([state, colorScheme, device]);
      await picture(`${folder}/${state}-${colorScheme}-${device}`);
    }
  }
}
