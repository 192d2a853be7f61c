import { expect, it } from "vitest";
import { completeLock, hostsInLock, type Lock } from "../../scripts/lock.ts";

const tool = {
  version: "2.0.0",
  dev: true,
  optionalDependencies: { "@tool/linux-x64-gnu": "2.0.0", "@tool/darwin-arm64": "2.0.0", "@tool/wasm32-wasi": "2.0.0" },
};

it("adds an entry for every optional package that npm left out, with the platform it is named after", () => {
  const lock: Lock = {
    packages: { "": {}, "node_modules/tool": tool, "node_modules/@tool/linux-x64-gnu": { version: "2.0.0" } },
  };

  const added = completeLock(lock);

  expect(added).toEqual(["node_modules/@tool/darwin-arm64", "node_modules/@tool/wasm32-wasi"]);
  expect(lock.packages["node_modules/@tool/darwin-arm64"]).toEqual({
    version: "2.0.0",
    cpu: ["arm64"],
    os: ["darwin"],
    dev: true,
    optional: true,
  });
  expect(lock.packages["node_modules/@tool/wasm32-wasi"]).toMatchObject({ cpu: ["wasm32"] });
  expect(Object.keys(lock.packages)).toEqual(Object.keys(lock.packages).toSorted());
});

it("leaves a complete lock file as it is", () => {
  const lock: Lock = { packages: { "node_modules/tool": tool } };
  completeLock(lock);

  expect(completeLock(lock)).toEqual([]);
});

it("finds what is locked in a folder above", () => {
  const nested = "node_modules/host/node_modules/tool";
  const lock: Lock = {
    packages: {
      [nested]: { optionalDependencies: { a: "1.0.0" } },
      "node_modules/host/node_modules/a": { version: "1.0.0" },
    },
  };

  expect(completeLock(lock)).toEqual([]);
});

it("leaves out what has no exact version", () => {
  expect(completeLock({ packages: { "node_modules/tool": { optionalDependencies: { a: "~1.0.0" } } } })).toEqual([]);
});

it("names the packages whose address is locked", () => {
  const lock: Lock = { packages: { "": {}, "node_modules/a": { resolved: "https://registry.example/a.tgz" } } };

  expect(hostsInLock(lock)).toEqual(["node_modules/a"]);
});
