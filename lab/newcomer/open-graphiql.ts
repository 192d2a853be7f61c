import type { Browser, BrowserContext } from "playwright-core";

/** Opens GraphiQL in a new tab and runs a query in it. */
export async function openGraphiql(browser: Browser | BrowserContext, url: string): Promise<void> {
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${url}/graphql`);
  await page.locator(".graphiql-query-editor .monaco-editor").first().click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("query Hello { __typename }");
  // GraphiQL notices the name of the operation some moments after the last key.
  await page.getByRole("tab", { name: "Hello" }).waitFor();
  await page.locator(".graphiql-logo").click();
  await page.getByRole("button", { name: /Execute query/ }).click();
  await page.locator(".result-window .view-lines", { hasText: '"__typename"' }).waitFor();
  await page.close();
}
