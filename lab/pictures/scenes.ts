import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { editorPage } from "./editor-page.ts";
import type { PictureName } from "./inputs.ts";
import { shopTraffic, signedIn } from "./shop-traffic.ts";
import { devLines, doctorLines, terminalPage } from "./terminal.ts";

/** The bookshop that is photographed. */
export interface PicturedShop {
  readonly url: string;
  /** Crashes the replica of its database. */
  readonly crashReplica: () => Promise<void>;
}

const SCROLLED_MS = 2_000;
const TRAFFIC_MS = 20_000;
/** Until the operations page shows the state after the crash. */
const CRASHED_MS = 8_000;

/** What each picture shows. A scene prepares the page, once for light and once for dark colours. */
export const scenes: Readonly<Record<PictureName, (page: Page, shop: PicturedShop) => Promise<void>>> = {
  async shop(page, { url }) {
    await page.goto(url);
    await page.locator("#books > li").first().waitFor();
  },
  async graphiql(page, { url }) {
    await page.goto(`${url}/graphql`);
    await page.getByRole("button", { name: "Execute query" }).click();
    await page.locator(".graphiql-response").getByText('"title"').first().waitFor();
  },
  async reference(page, { url }) {
    await page.goto(`${url}/docs#tag/books/GET/books`);
    await page.getByRole("heading", { name: "Lists the books by title" }).waitFor();
    // The page scrolls to the section that its address names.
    await sleep(SCROLLED_MS);
  },
  async operations(page, { url, crashReplica }) {
    // It has been prepared already, and follows the colours of the system by itself.
    if (page.url().endsWith("/operations/page")) return;
    const end = new AbortController();
    const traffic = shopTraffic(url, end.signal);
    try {
      await page.setExtraHTTPHeaders(await signedIn(url, "admin"));
      await page.goto(`${url}/operations/page`);
      await page.getByRole("button", { name: "Operations" }).click();
      await sleep(TRAFFIC_MS);
      await crashReplica();
      await page.locator("#saturation li.fail").first().waitFor();
      await sleep(CRASHED_MS);
    } finally {
      end.abort();
      await traffic;
    }
  },
  async dev(page) {
    await showTerminal(page, "npx portico dev", devLines);
  },
  async doctor(page) {
    await showTerminal(page, "NODE_ENV=production npx portico doctor", doctorLines);
  },
  async editor(page) {
    await page.setContent(await editorPage());
  },
};

/** The page follows the colours of the system by itself, so the command runs once. */
async function showTerminal(page: Page, command: string, linesOf: () => Promise<string>): Promise<void> {
  if ((await page.title()) === "Terminal") return;
  await page.setContent(terminalPage(command, await linesOf()));
}
