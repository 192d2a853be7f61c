import { Fleet, type Kind } from "./scale/fleet.ts";
import { makeScalePlace, type ScalePlace } from "./scale/scale-place.ts";

const isShort = process.argv.includes("--short");
const SECONDS = isShort ? 2 : 8;
/** For each process, so that ten get ten times as many. */
const PER_SECOND = 30;
const KINDS: readonly Kind[] = ["open route", "route by session", "page of 20 rows", "GraphQL, 20 rows"];
const SIZES = [1, 10];

/** What a request costs when one process handles all of them, and when ten share them: CPU time of Node, Redis and PostgreSQL. */
export async function run(): Promise<void> {
  const place = await makeScalePlace();
  try {
    const costs = new Map<number, Map<Kind, number>>();
    for (const size of SIZES) costs.set(size, await measure(place, size));
    let most = 0;
    for (const kind of KINDS) {
      const [one = 0, ten = 0] = SIZES.map((size) => costs.get(size)?.get(kind) ?? 0);
      most = Math.max(most, ten / one);
      console.log(
        `processes: ${kind}: ${Math.round(one)} µs by one, ${Math.round(ten)} µs by ten (${(ten / one).toFixed(2)})`,
      );
    }
    console.log(`processes: ten cost at most ${most.toFixed(2)} times what one costs`);
  } finally {
    await place.remove();
  }
}

async function measure(place: ScalePlace, size: number): Promise<Map<Kind, number>> {
  const fleet = await Fleet.start(place, size);
  try {
    await fleet.warm(Object.fromEntries(KINDS.map((kind) => [kind, 1])), SECONDS);
    const costs = new Map<Kind, number>();
    for (const kind of KINDS) {
      const { node, redis, postgres, perSecond } = await fleet.measure({ [kind]: 1 }, SECONDS, {
        perSecond: PER_SECOND * size,
      });
      console.log(
        `  ${size} × ${kind}: Node ${node.toFixed(0)}, Redis ${redis.toFixed(0)}, PostgreSQL ${postgres.toFixed(0)} µs; ${perSecond.toFixed(0)} per second`,
      );
      costs.set(kind, node + redis + postgres);
    }
    return costs;
  } finally {
    fleet.stop();
  }
}
