/**
 * Runs every step in order, even after one has failed, and then throws the first error. A failed revocation must not
 * prevent the next one.
 */
export async function runEach(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
