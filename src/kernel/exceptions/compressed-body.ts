import { shorten } from "../../core/shorten.ts";
import { HttpException } from "./http-exception.ts";

/** 415: the body is compressed. A small compressed body can unpack to a huge one, so none is accepted. */
export class CompressedBody extends HttpException {
  override readonly name: string = "CompressedBody";

  constructor(encoding: string) {
    super(415, `The body must not be compressed, but its Content-Encoding is ${shorten(encoding, 100)}`, {
      // RFC 9110, section 12.5.3: the client learns which encodings would have been accepted.
      headers: { "accept-encoding": "identity" },
    });
  }
}
