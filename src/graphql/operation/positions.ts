import { isInstance } from "../../core/describe-error.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import { scopeDigest } from "../../pagination/cursor/scope-digest.ts";
import { openCursor, type Seal, sealCursor } from "../../pagination/cursor/seal-cursor.ts";
import { InvalidCursorError } from "../../pagination/query/pagination-error.ts";
import type { EventPlace, KeptEvents } from "../../stores/outbox.ts";

/** The events of a subscription that clients can resume. */
export interface Followed {
  /** The position after the event that was returned last; at first, where the subscription begins. */
  readonly position: string;
  /** The position up to which there were no more events; `null` while one is being executed or waits. */
  readonly idlePosition: string | null;
}

/** The positions of one subscription as text: encrypted like cursors, and bound to its field and arguments, but not to a caller. */
export class Positions {
  readonly #seal: Seal;

  constructor(keys: CursorKeys, field: string, args: Readonly<Record<string, unknown>>) {
    const scope = scopeDigest(`subscription ${field}`, [], args);
    // A position has no maximum age, because the database knows which events it still has.
    this.#seal = { keys, scope, parameter: "position", now: 0 };
  }

  of(events: KeptEvents<unknown>): Followed {
    const { epoch } = events;
    const write = (seq: number): string => sealCursor({ direction: "forward", at: { key: [epoch, seq] } }, this.#seal);
    return {
      get position() {
        return write(events.seq);
      },
      get idlePosition() {
        const { idleSeq } = events;
        return idleSeq === null ? null : write(idleSeq);
      },
    };
  }

  /** Returns the place of a position. Throws `POSITION_REFUSED` for one of another subscription. */
  open(position: string): EventPlace {
    try {
      const { at } = openCursor(position, this.#seal);
      const [epoch, seq] = at !== null && "key" in at ? at.key : [];
      if (typeof epoch === "string" && typeof seq === "number") return { epoch, seq };
    } catch (error) {
      if (!isInstance(error, InvalidCursorError)) throw error;
    }
    throw positionRefused("This position is not one of this subscription with these arguments");
  }
}

/** The error for a position that was sent with a subscription that can't be resumed. */
export function withoutPositions(): HttpException {
  return positionRefused("This subscription has no positions");
}

/** The error for a position that a subscription can't continue from. */
export function positionRefused(reason: string, cause?: unknown): HttpException {
  const advice = "Load the current state, and subscribe without a position.";
  return new HttpException(409, `${reason}. ${advice}`, { code: "POSITION_REFUSED", cause });
}
