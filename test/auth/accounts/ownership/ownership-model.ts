import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { type OwnershipWorld, type Person, person } from "./ownership-world.ts";

/** A step of a person. It changes nothing if the person can't take it. */
type Step = (run: Run, who: Person) => Promise<void>;

/** One sequence: the address that everyone wants, and three people. */
interface Run {
  readonly world: OwnershipWorld;
  readonly address: string;
  readonly owner: Person;
  /** The account of the owner, from the first time that the owner has proved the address. */
  owned: string | null;
  /** Whether the owner proved the address and did not get in. */
  isLockedOut: boolean;
  hasFactor: boolean;
}

const register: Step = async ({ world, address }, who) => {
  await world.call("/register", { email: address, password: who.password });
};
const signIn: Step = async ({ world, address }, who) => {
  await world.signIn(who, address, who.password);
};
const signInWithTokens: Step = async ({ world, address }, who) => {
  await world.signIn(who, address, who.password, "/token");
};
const addFactor: Step = async (run, who) => addFactorIn(run, who, false);
/** In an earlier release, which had no mailer: an account of today may have such a factor. */
const addFactorEarlier: Step = async (run, who) => addFactorIn(run, who, true);

async function addFactorIn(run: Run, who: Person, isEarlier: boolean): Promise<void> {
  const { world } = run;
  if (who.sessions.length === 0) await signIn(run, who);
  const session = who.sessions.at(-1);
  if (session === undefined) return;
  const begun = await world.call("/factors/totp", { password: who.password }, session, isEarlier);
  if (begun.status !== 201) return;
  const { secret } = begun.json() as { secret: string };
  const code = codeAt(secret, world.clock.now());
  const confirmed = await world.call("/factors/totp/confirm", { code }, session, isEarlier);
  if (!world.keep(who, confirmed)) return;
  who.secrets.add(secret);
  if (who === run.owner && run.owned !== null) run.hasFactor = true;
}

const createKey: Step = async (run, who) => createKeyIn(run, who, false);
const createKeyEarlier: Step = async (run, who) => createKeyIn(run, who, true);

async function createKeyIn({ world }: Run, who: Person, isEarlier: boolean): Promise<void> {
  const session = who.sessions.at(-1);
  if (session === undefined) return;
  const made = await world.call("/keys", { password: who.password }, session, isEarlier);
  if (made.status === 201) who.sessions.push({ "x-api-key": (made.json() as { key: string }).key });
}

const link: Step = async ({ world }, who) => {
  const session = who.sessions.at(-1);
  if (session !== undefined) await world.link(who, session, false);
};
const linkEarlier: Step = async ({ world }, who) => {
  const session = who.sessions.at(-1);
  if (session !== undefined) await world.link(who, session, true);
};
const changePassword: Step = async ({ world }, who) => {
  const session = who.sessions.at(-1);
  if (session === undefined) return;
  const next = `${who.password}, changed ${who.passwords.size}`;
  for (const current_password of who.passwords) {
    const changed = await world.call("/password", { current_password, new_password: next }, session);
    if (world.keep(who, changed)) return choose(who, next);
  }
};
function choose(who: Person, password: string): void {
  who.password = password;
  who.passwords.add(password);
}

const ask =
  (path: string): Step =>
  async ({ world, address }) => {
    await world.call(path, { email: address });
  };
const verify: Step = async (run, who) => {
  await ask("/verify/request")(run, who);
  const mail = run.world.mailTo(who, "verify");
  if (mail === null) return;
  const session = who.sessions.at(-1);
  const forms = [
    { body: { code: mail.code }, headers: session ?? {} },
    { body: { token: mail.token, password: who.password }, headers: {} },
    { body: { token: mail.token }, headers: {} },
  ];
  for (const { body, headers } of forms) {
    const answer = await run.world.call("/verify", body, headers);
    if (answer.status < 300) {
      run.world.keep(who, answer);
      return claim(run, who);
    }
  }
};
const reset: Step = async (run, who) => {
  if (await choosePassword(run, who)) await claim(run, who);
};

async function choosePassword(run: Run, who: Person): Promise<boolean> {
  const { world } = run;
  await ask("/password/reset")(run, who);
  const mail = world.mailTo(who, "reset");
  if (mail === null) return false;
  const code = [...who.secrets].map((secret) => codeAt(secret, world.clock.now())).at(-1);
  const password = `${who.password}, by a reset`;
  const body = { token: mail.token, password, ...(code === undefined ? {} : { code }) };
  if ((await world.call("/password/reset/confirm", body)).status !== 204) return false;
  choose(who, password);
  return true;
}
const signInByMail: Step = async (run, who) => {
  const { world, address } = run;
  const asked = await world.call("/sign-in-mail", { email: address });
  const mail = world.mailTo(who, "sign_in");
  const { cookie } = cookieHeader(asked);
  if (mail === null) return;
  const done = await world.call("/sign-in-mail/confirm", { code: mail.code }, { cookie });
  if (await world.finish(who, done)) await claim(run, who);
};
const changeAddress: Step = async (run, who) => {
  const { world, address } = run;
  const session = who.sessions.at(-1);
  const own = who === run.owner ? address : (who.mailboxes.find((box) => box !== address) ?? address);
  if (session === undefined) return;
  await world.call("/email", { email: own, password: who.password }, session);
  const mail = world.mailTo(who, "change_email");
  if (mail === null) return;
  const changed = await world.call("/email/confirm", { token: mail.token }, session);
  if (world.keep(who, changed)) await claim(run, who);
};
/** Tries the newest link of the other person's change, which an unsolicited email may contain. */
const confirmForeignChange: Step = async ({ world }, who) => {
  const mail = world.mailTo(who, "change_email");
  if (mail !== null) await world.call("/email/confirm", { token: mail.token });
};

/**
 * The account of the address is the owner's from the owner's first proof on. The owner can get in then, with a reset if the
 * proof has ended the only password.
 */
async function claim(run: Run, who: Person): Promise<void> {
  if (who !== run.owner || run.owned !== null) return;
  run.owned = await accountOf(run);
  if (run.owned !== null) return;
  // Others may have used up the emails of this hour.
  run.world.clock.advance(3_600_000);
  await choosePassword(run, who);
  run.owned = await accountOf(run);
  run.isLockedOut = run.owned === null;
}

async function accountOf({ world, owner, address }: Run): Promise<string | null> {
  const [account] = await world.reach(owner, [address]);
  return account ?? null;
}

const CREDENTIALS: readonly Step[] = [
  register,
  signIn,
  signInWithTokens,
  addFactor,
  createKey,
  link,
  changePassword,
  changeAddress,
];
const MAILS: readonly Step[] = [
  ask("/password/reset"),
  ask("/verify/request"),
  verify,
  reset,
  signInByMail,
  confirmForeignChange,
];
const EARLIER: readonly Step[] = [addFactorEarlier, createKeyEarlier, linkEarlier, linkEarlier];
const STRANGER: readonly Step[] = [...CREDENTIALS, ...EARLIER, ...MAILS];
const THIEF: readonly Step[] = [...CREDENTIALS, ...MAILS];
const OWNER: readonly Step[] = [...CREDENTIALS, ...MAILS, ...MAILS];

/**
 * Runs a sequence of random steps: a stranger without the mailbox, the owner, and a thief who reads the mailbox and has
 * nothing else, from the moment when the owner has a second factor. It is at fault if an attacker gets into the owner's account,
 * or if the owner doesn't after the first proof.
 */
export async function runSequence(world: OwnershipWorld, number: number, random: () => number): Promise<Outcome> {
  const address = `ann${number}@bank.example`;
  const [owner, stranger] = [
    person(`owner${number}`, [address]),
    person(`stranger${number}`, [`evil${number}@x.example`]),
  ];
  const thief = person(`thief${number}`, [address]);
  const run: Run = { world, address, owner, owned: null, isLockedOut: false, hasFactor: false };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const length = 8 + Math.floor(random() * 12);
  const taken: string[] = [];
  // Few random sequences begin with a stranger who was first and left something behind.
  if (random() < 0.6) for (const act of [register, signIn, pick(EARLIER)]) await act(run, stranger);
  for (let step = 0; step < length; step++) {
    world.clock.advance(660_000);
    const isEarly = run.owned === null;
    const who = run.hasFactor && random() < 0.4 ? thief : random() < (isEarly ? 0.5 : 0.35) ? stranger : owner;
    const isProtecting = who === owner && !isEarly && !run.hasFactor && random() < 0.5;
    const act = isProtecting ? addFactor : pick(who === stranger ? STRANGER : who === owner ? OWNER : THIEF);
    taken.push(`${who.name} ${STRANGER.indexOf(act)}`);
    await act(run, who);
    // The stranger may have it until then: the account is the stranger's own.
    if (run.isLockedOut) return { fault: `${owner.name} is locked out`, taken, isOwned: false, hasFactor: false };
    if (run.owned === null) continue;
    for (const attacker of run.hasFactor ? [stranger, thief] : [stranger])
      if ((await world.reach(attacker, [address])).has(run.owned))
        return { fault: `${attacker.name} is in`, taken, isOwned: true, hasFactor: run.hasFactor };
  }
  return { fault: null, taken, isOwned: run.owned !== null, hasFactor: run.hasFactor };
}

export interface Outcome {
  /** The attacker who got in, or the owner who did not. */
  readonly fault: string | null;
  readonly taken: readonly string[];
  readonly isOwned: boolean;
  readonly hasFactor: boolean;
}
