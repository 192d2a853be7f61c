/**
 * Runs the steps in their order, the later ones also when an earlier one fails, and then throws the first error: what ends access
 * must not depend on what is ended before it.
 */
export async function runEach(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
