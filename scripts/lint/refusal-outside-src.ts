import { posix } from "node:path";

/** The folders of `lab/` that tests use as well. They use nothing else of `lab/`. */
const SHARED = /^lab\/(?:servers|seeds)\//;
const TESTS = /^(?:test|examples\/[^/]+\/test[^/]*)\//;
/** The tests of `lab/` import what they test. */
const TESTS_OF_LAB = /^test\/(?:scripts\/|failing-seeds\.servers\.test\.ts$)/;

interface Rule {
  readonly isRefused: (file: string, target: string) => boolean;
  readonly reason: string;
}

const rules: readonly Rule[] = [
  {
    isRefused: (file, target) => isIn("examples", file) && isIn("src", target),
    reason: "an example uses the public entry points only, as an application would",
  },
  {
    isRefused: (file, target) => isIn("test", target) && !TESTS.test(file),
    reason:
      "only tests import test/: move what is shared to lab/servers/, or to the folder of scripts/ that it belongs to",
  },
  {
    isRefused: (file, target) => isIn("scripts", file) && isIn("lab", target),
    reason: "scripts/ builds and checks without lab/: lab/ may import scripts/",
  },
  {
    isRefused: (file, target) => SHARED.test(file) && isIn("lab", target) && !SHARED.test(target),
    reason: "tests use lab/servers/ and lab/seeds/ as well, so these import nothing else of lab/",
  },
  {
    isRefused: (file, target) =>
      isIn("test", file) && isIn("lab", target) && !SHARED.test(target) && !TESTS_OF_LAB.test(file),
    reason: "tests import only lab/servers/ and lab/seeds/ of lab/, except for its own tests in test/scripts/",
  },
];

/** Why `file`, which is not in `src/`, may not import `specifier`, or undefined when it may. */
export function refusalOutsideSrc(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const target = posix.join(posix.dirname(file), specifier);
  return rules.find(({ isRefused }) => isRefused(file, target))?.reason;
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}
