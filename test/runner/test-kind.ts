/** What a test file needs, by its name: `x.test.ts` needs nothing, `x.database.test.ts` the shared servers. */
export type TestKind = "plain" | "database" | "servers" | "alone" | "modules" | "browser" | "quiet";

/** The kind in the name of a test file. */
export function testKind(file: string): TestKind {
  return (/\.(database|servers|alone|modules|browser|quiet)\.test\.ts$/.exec(file)?.[1] ?? "plain") as TestKind;
}
