import type { Generator, Input, Piece } from "../input.ts";
import { oddText } from "../odd-values.ts";
import { requestBytes } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";
import { frame, handshake, TEXT_FRAME, textFrame } from "../web-socket-bytes.ts";

/** Handshakes and raw frames of WebSockets, many of them against the protocol. */
export const socketFrames: Generator = { name: "ws-frames", groupSize: 200, make };

function make(tape: Tape): Input {
  const frames = [
    ...(tape.oneIn(3) ? [] : [textFrame('{"type":"connection_init"}')]),
    ...tape.some(6, () => oddFrame(tape)),
  ];
  const bytes = Buffer.concat(frames);
  const cut = tape.oneIn(4) ? tape.below(bytes.length + 1) : bytes.length;
  const pieces: Piece[] = [
    { bytes: tape.below(5) === 4 ? oddHandshake(tape) : handshake("/graphql"), awaitsReply: !tape.oneIn(4) },
    { bytes: bytes.subarray(0, cut) },
    ...(cut < bytes.length && tape.oneIn(2) ? [{ bytes: bytes.subarray(cut) }] : []),
  ];
  return { pieces, ending: tape.pick(["wait", "disconnect", "half-close"]), requests: 1 + frames.length };
}

function oddFrame(tape: Tape): Buffer {
  const payload = Buffer.from(
    tape.pick([() => '{"type":"ping"}', () => oddText(tape), () => "a".repeat(tape.below(70_000))])(),
  );
  switch (tape.below(9)) {
    case 0:
      return frame({ first: TEXT_FRAME, payload });
    case 1:
      return frame({ first: tape.below(256), payload });
    case 2:
      return frame({ first: TEXT_FRAME, payload, isMasked: false });
    case 3:
      return frame({
        first: TEXT_FRAME,
        payload,
        claimed: tape.pick([0n, 1n, 125n, 126n, 65_535n, 65_536n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]),
      });
    case 4:
      // A message in fragments, with a control frame within it.
      return Buffer.concat([
        frame({ first: 0x01, payload: payload.subarray(0, 5) }),
        frame({ first: 0x89, payload: Buffer.from("ping") }),
        frame({ first: tape.pick([0x80, 0x00, 0x81]), payload: payload.subarray(5) }),
      ]);
    case 5:
      return frame({ first: 0x88, payload: closing(tape) });
    case 6:
      return frame({ first: tape.pick([0x89, 0x8a]), payload: payload.subarray(0, tape.pick([0, 125, 126])) });
    case 7:
      return frame({ first: TEXT_FRAME, payload: Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80, 0xff]) });
    default:
      return frame({ first: tape.pick([0x82, 0xc1, 0xa1, 0x91, 0x41]), payload });
  }
}

function closing(tape: Tape): Buffer {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(tape.pick([1_000, 1_005, 1_006, 999, 0, 1_015, 4_000, 65_535]));
  return tape.pick([
    code,
    Buffer.alloc(0),
    Buffer.alloc(1),
    Buffer.concat([code, Buffer.from([0xff])]),
    Buffer.concat([code, Buffer.alloc(200, "x")]),
  ]);
}

function oddHandshake(tape: Tape): Buffer {
  return requestBytes({
    path: tape.pick(["/graphql", "/graphql/", "/books", "/nowhere", "/graphql?query={me{id}}"]),
    method: tape.pick(["GET", "POST", "HEAD", "OPTIONS"]),
    headers: [
      ["connection", tape.pick(["Upgrade", "keep-alive, Upgrade", "close", ""])],
      ["upgrade", tape.pick(["websocket", "WebSocket", "h2c", "", oddText(tape)])],
      ["sec-websocket-version", tape.pick(["13", "8", "0", "", "13, 8"])],
      ["sec-websocket-key", tape.pick(["AAAAAAAAAAAAAAAAAAAAAA==", "", "short", oddText(tape)])],
      [
        "sec-websocket-protocol",
        tape.pick([
          "graphql-transport-ws",
          "graphql-ws",
          "",
          ",",
          "graphql-transport-ws, graphql-transport-ws",
          oddText(tape),
        ]),
      ],
      [
        "sec-websocket-extensions",
        tape.pick([
          "",
          "permessage-deflate",
          "permessage-deflate; server_max_window_bits=99",
          ";;",
          'a="',
          "x".repeat(3_000),
        ]),
      ],
    ],
  });
}
