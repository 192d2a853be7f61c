import axe from "axe-core";
import type { Page } from "playwright-core";

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The findings of axe-core on a page as it is now, by all of its rules. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, so that the policy of the page stays in force.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const found = await page.evaluate<Finding[]>("axe.run(document).then(({ violations }) => violations)");
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
}

/** Whether people must scroll sideways to read the page. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.documentElement.scrollWidth > document.documentElement.clientWidth");
}
