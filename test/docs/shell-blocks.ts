import { read } from "../../scripts/package/repository.ts";

/** A block of shell commands on a page, with what surrounds it. */
export interface ShellBlock {
  /** The heading above it. */
  readonly step: string;
  readonly commands: string;
  /** The files that the page shows between the last block and this one, by the name in their first line. */
  readonly files: Readonly<Record<string, string>>;
  /** The code block directly above, with or without a name. */
  readonly code: string | undefined;
  /** The response that the page shows below it. */
  readonly json: string | undefined;
  /** Any other output that the page shows below it. */
  readonly text: string | undefined;
  /** Why no test runs it, from a comment `<!-- not run: reason -->` above it. */
  readonly notRun: string | undefined;
}

const PARTS =
  /^## (?<step>[^\n]+)$|(?:^<!-- not run: (?<notRun>[^\n]+) -->\n\n?)?^```(?<language>\w+)(?: [^\n]*)?\n(?<text>.*?)^```$/gms;

/** The blocks of shell commands of a page, from the top. */
export function shellBlocks(page: string): readonly ShellBlock[] {
  const found = [...read(page).matchAll(PARTS)].map(({ groups }) => groups ?? {});
  const blocks: ShellBlock[] = [];
  let [step, files] = ["", {} as Record<string, string>];
  for (const [i, { language, text = "", notRun, step: heading = step }] of found.entries()) {
    step = heading;
    const file = /^\/\/ (?<name>\S+)\n/.exec(text)?.groups?.["name"];
    if (file !== undefined) files[file] = text;
    if (language !== "sh") continue;
    const outputIn = (kind: string): string | undefined =>
      found[i + 1]?.["language"] === kind ? found[i + 1]?.["text"] : undefined;
    const above = found[i - 1] ?? {};
    blocks.push({
      step,
      commands: text,
      files,
      code: above["language"] === "ts" ? above["text"] : undefined,
      json: outputIn("json"),
      text: outputIn("text"),
      notRun,
    });
    files = {};
  }
  return blocks;
}

// Tests install the package and start the server in their own way. The rehearsal of a release runs these commands against a registry.
const SET_UP =
  /^(?:mkdir|cd|npm create|npm run|npm install|npx portico dev|node --env-file=\S+ --watch|NODE_ENV=production node)\b.*$/gm;

/** The commands that a test of the page runs as they are. */
export function withoutSetUp(commands: string): string {
  return commands.replaceAll(SET_UP, "").trim();
}
