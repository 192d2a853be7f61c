const vague: readonly string[] = ["common", "helpers", "misc", "shared", "types", "util", "utils"];

/**
 * What is wrong with the name of a file of `src/`, or undefined.
 * A file is named in kebab-case after the thing it exports, so a name that fits any content is refused.
 */
export function fileNameFault(file: string): string | undefined {
  if (!file.startsWith("src/")) return undefined;
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/(\.d)?\.[cm]?[jt]sx?$/, "");
  if (vague.includes(stem)) return `name the file after what it exports: "${stem}" fits anything`;
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem) ? undefined : `"${stem}" is not kebab-case`;
}
