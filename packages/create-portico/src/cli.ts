#!/usr/bin/env node
// The rest is imported after the check, because older versions of Node can't load it.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`create-portico: Node 22.18 or later is required, and this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  const { createPortico } = await import("./create-portico.ts");
  process.exitCode = await createPortico(process.argv.slice(2));
}
