/** The name of a provider as people know it. */
export function providerTitle(name: string): string {
  return name === "github" ? "GitHub" : name.charAt(0).toUpperCase() + name.slice(1);
}
