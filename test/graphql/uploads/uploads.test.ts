import { tmpdir } from "node:os";
import { ConfigurationError } from "portico";
import { describe, expect, it } from "vitest";
import { Uploads, type UploadsOptions } from "../../../src/graphql/uploads/uploads.ts";

describe("Uploads", () => {
  it("is off by default, with limits for when it is on", () => {
    expect(Object.fromEntries(Object.entries(new Uploads()))).toEqual({
      enabled: false,
      maxSize: 10 * 1024 ** 2,
      maxFiles: 10,
      maxTotal: 50 * 1024 ** 2,
      contentTypes: [],
      spillAbove: 1024 ** 2,
      directory: tmpdir(),
    });
  });

  it("reads sizes, and types in any case", () => {
    const uploads = new Uploads({ maxSize: "2mb", maxTotal: 5, contentTypes: ["IMAGE/Png", "text/*"] });

    expect(uploads).toMatchObject({ maxSize: 2 * 1024 ** 2, maxTotal: 5, contentTypes: ["image/png", "text/*"] });
  });

  it("allows one file of maxSize, even above the default total", () => {
    expect(new Uploads({ maxSize: "100mb" })).toMatchObject({ maxTotal: 100 * 1024 ** 2 });
    expect(new Uploads({ maxSize: "1mb" })).toMatchObject({ maxTotal: 50 * 1024 ** 2 });
  });

  it("accepts a plain object, and an instance as it is", () => {
    const uploads = new Uploads({ enabled: true });

    expect(Uploads.from(uploads)).toBe(uploads);
    expect(Uploads.from({ enabled: true })).toEqual(uploads);
    expect(Uploads.from({ enabled: true })).toBeInstanceOf(Uploads);
  });

  it.each<[string, unknown]>([
    ["enabled", "yes"],
    ["maxSize", "2 megabytes"],
    ["maxSize", -1],
    ["maxFiles", 0],
    ["maxFiles", 1.5],
    ["maxTotal", null],
    ["contentTypes", "image/png"],
    ["contentTypes", ["image"]],
    ["contentTypes", ["image/"]],
    ["contentTypes", ["*"]],
    ["contentTypes", ["*/*"]],
    ["contentTypes", ["image/p*"]],
    ["contentTypes", ["image/*p"]],
    ["contentTypes", ["image/png", 1]],
    ["directory", 1],
    ["contentTypes", ["image/png; q=1"]],
    ["spillAbove", "much"],
    ["directory", ""],
    ["directory", "/nowhere/at/all"],
    ["directory", "/etc/hostname"],
  ])("rejects %s %j when it is constructed", (option, value) => {
    const construct = (): Uploads => new Uploads({ [option]: value });

    expect(construct).toThrow(ConfigurationError);
    expect(construct).toThrow(`Uploads.${option} must be `);
  });

  it("rejects an unknown option, and suggests a known one", () => {
    expect(() => new Uploads({ maxsize: 1 } as UploadsOptions)).toThrow(
      'Uploads: unknown option "maxsize". Did you mean "maxSize"?',
    );
  });
});
