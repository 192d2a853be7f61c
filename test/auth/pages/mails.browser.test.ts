import { describe, expect, it, onTestFinished, vi } from "vitest";
import { axeFindings, scrollsSideways } from "../../axe.ts";
import { isBrowserMissing } from "../../browser.ts";
import { expectFinished } from "../../looks.ts";
import { pageBrowser } from "./page-browser.ts";

/** Emails with a button and a code, with a button, and with neither: all others have the elements of one of them. */
const KINDS = ["sign_in", "reset", "new_device"];
/** Rules about whole pages: a mail program shows an email inside a page of its own. */
const OF_PAGES = /^(?:region|landmark-one-main):/;

// Pictures: .cache/pictures/mails.
describe.skipIf(isBrowserMissing)("the emails that are previewed during development", { timeout: 60_000 }, () => {
  it("look finished and are accessible, as text and as HTML", async () => {
    vi.stubEnv("NODE_ENV", "development");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { page, picture, open, violations, elsewhere } = await pageBrowser({ signInMails: true });

    await open("/account/pages/mails");
    await expectFinished({ page, picture }, "list", "mails");
    expect(await page.locator("section code").allTextContents()).toEqual(expect.arrayContaining(KINDS));
    for (const kind of KINDS) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(`/account/pages/mails?html=${kind}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const findings = await axeFindings(page);
        expect([kind, colorScheme, ...findings.filter((finding) => !OF_PAGES.test(finding))]).toEqual([
          kind,
          colorScheme,
        ]);
      }
      await picture(`mails/${kind}-dark-desktop`);
      await page.setViewportSize({ width: 360, height: 800 });
      expect([kind, await scrollsSideways(page)]).toEqual([kind, false]);
      await picture(`mails/${kind}-dark-phone`);
    }
    expect([...violations, ...elsewhere]).toEqual([]);
  });
});
