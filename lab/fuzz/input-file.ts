import { readFileSync, writeFileSync } from "node:fs";
import type { Input } from "./input.ts";

/** Saves inputs, with their bytes in base64. */
export function writeInputs(path: string, inputs: readonly Input[]): void {
  const stored = inputs.map((input) => ({
    ...input,
    pieces: input.pieces.map((piece) => ({ ...piece, bytes: piece.bytes.toString("base64") })),
  }));
  writeFileSync(path, JSON.stringify(stored, null, 2));
}

export function readInputs(path: string): readonly Input[] {
  const stored = JSON.parse(readFileSync(path, "utf8")) as (Omit<Input, "pieces"> & {
    readonly pieces: readonly { readonly bytes: string; readonly awaitsReply?: boolean }[];
  })[];
  return stored.map((input) => ({
    ...input,
    pieces: input.pieces.map((piece) => ({ ...piece, bytes: Buffer.from(piece.bytes, "base64") })),
  }));
}
