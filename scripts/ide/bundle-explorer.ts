import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { build, type Plugin, type Rolldown } from "vite";
import { packageOf } from "../third-party-licenses.ts";

/** The explorer as the beginning of one page: what the server says of a graph follows it. */
export interface ExplorerBundle {
  readonly html: string;
  /** Of the page's script, for its content security policy. */
  readonly scriptHash: string;
  /** The packages whose code may be in it. */
  readonly packages: readonly string[];
}

const root = resolve(import.meta.dirname, "../..");

/** Bundles GraphiQL, its editor and its workers with vite into one page. */
export async function bundleExplorer(): Promise<ExplorerBundle> {
  const files = new Set<string>();
  const result = (await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: "error",
    plugins: [witness(files)],
    worker: { format: "iife", plugins: () => [witness(files)] },
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2022",
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      // Fonts and the like become part of the style.
      assetsInlineLimit: Number.MAX_SAFE_INTEGER,
      rolldownOptions: {
        input: join(root, "scripts/ide/explorer.js"),
        output: { format: "iife", codeSplitting: false },
      },
    },
  })) as Rolldown.RolldownOutput;
  const script = inlineScript(only(result, ".js"));
  const names = [...files].map(packageOf).filter((name) => name !== undefined);
  return {
    html: page(script, only(result, ".css")),
    scriptHash: `sha256-${createHash("sha256").update(script).digest("base64")}`,
    packages: [...new Set(names)].toSorted(),
  };
}

function page(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>GraphiQL</title>
<style>${style}</style>
</head>
<body>
<div id="explorer"><noscript>This page needs JavaScript.</noscript></div>
<script>${script}</script>
`;
}

/** Notes what is read: the workers are bundled on their own, and their files are not among those of the page. */
function witness(files: Set<string>): Plugin {
  return {
    name: "witness",
    transform(_code, id) {
      files.add(id);
    },
  };
}

/** The one file of its kind: a second one would have to be fetched. */
function only({ output }: Rolldown.RolldownOutput, extension: string): string {
  const [file, ...others] = output.filter(({ fileName }) => fileName.endsWith(extension));
  const names = output.map(({ fileName }) => fileName).join(", ");
  if (file === undefined || others.length > 0 || output.length !== 2)
    throw new Error(`one script and one style were expected, not ${names}`);
  const text = file.type === "chunk" ? file.code : file.source.toString();
  if (extension === ".css" && /<\/style/i.test(text)) throw new Error("the style would end its own element");
  return text;
}

/** These two would end the element, or change how the rest is read. Both stand in text or patterns only. */
function inlineScript(code: string): string {
  return code.replaceAll(/<(?=\/script|!--)/gi, String.raw`\x3C`);
}
