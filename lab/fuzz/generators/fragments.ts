import type { Generator, Input, Piece } from "../input.ts";
import type { Known } from "../known.ts";
import type { Tape } from "../tape.ts";
import { graphqlOperations } from "./graphql-operations.ts";
import { jsonBodies } from "./json-bodies.ts";
import { multipartForms } from "./multipart-forms.ts";
import { socketMessages } from "./socket-messages.ts";

/** Inputs of other generators in many small TCP segments. */
export const fragments: Generator = { name: "fragments", groupSize: 100, make };

const MAX_PIECES = 400;

function make(tape: Tape, known: Known): Input {
  const size = tape.pick([1, 2, 3, 7, 50, 500]);
  const other = tape.pick([jsonBodies, graphqlOperations, multipartForms, socketMessages]);
  const input = other.make(tape, known);
  return { ...input, pieces: input.pieces.flatMap((piece) => cut(piece, size)) };
}

function cut({ bytes, awaitsReply = false }: Piece, size: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const end = pieces.length === MAX_PIECES ? bytes.length : at + size;
    pieces.push({ bytes: bytes.subarray(at, end), awaitsReply: awaitsReply && end >= bytes.length });
    if (end >= bytes.length) break;
  }
  return pieces;
}
