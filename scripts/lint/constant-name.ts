const WORDS: Readonly<Record<string, string>> = {
  MOST: "MAX",
  LONGEST: "MAX",
  LARGEST: "MAX",
  LEAST: "MIN",
  SHORTEST: "MIN",
  SMALLEST: "MIN",
  PATIENCE: "TIMEOUT",
};

/**
 * The reason why the name of a constant is not allowed, or undefined. Limits and deadlines are named like the public
 * options: `maxFiles`, `timeoutSeconds`.
 */
export function constantNameFault(name: string): string | undefined {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) return undefined;
  const [word] = name.split("_").filter((part, at) => part in WORDS && (at === 0 || part === "PATIENCE"));
  return word === undefined ? undefined : `use ${WORDS[word]} instead of ${word}, as the public options do: ${name}`;
}
