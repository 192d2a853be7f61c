import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSockets, rounds } from "./open-sockets.ts";

const EXPIRED = [4403, "the credential has expired"];
const REVOKED = [4403, "the credential was revoked"];

describe("the credential of an open socket", () => {
  it("closes the socket when it expires", async () => {
    const { open, pass } = await openSockets();
    const [ada, bob, carl] = [
      await open("ada", { expiresAt: 10_000 }),
      await open("bob", { expiresAt: 10_001 }),
      await open("carl"),
    ];

    await pass(9_999);
    const before = ada.state();
    await pass(1);
    await expect.poll(ada.state).toEqual(EXPIRED);

    expect([before, bob.state(), carl.state()]).toEqual(["open", "open", "open"]);
  });

  it("is checked again every recheckSeconds, and the socket stays open while it is valid", async () => {
    const { open, pass, checked, checks } = await openSockets({ timeouts: { recheckSeconds: 60 } });
    const [ada, anonymous] = [await open("ada"), await open(null)];
    checked.length = 0;

    const counts: number[] = [];
    for (const ms of [59_999, 1, 59_999, 1]) {
      await pass(ms);
      counts.push(checked.length);
    }
    checks.isValid = async () => false;
    await pass(60_000);
    await expect.poll(ada.state).toEqual(REVOKED);

    expect(counts).toEqual([0, 1, 1, 2]);
    expect(anonymous.state()).toBe("open");
  });

  it("is not checked by time with recheckSeconds: 0", async () => {
    const { open, pass, checked } = await openSockets({ timeouts: { recheckSeconds: 0 } });
    await open("ada");
    checked.length = 0;

    await pass(3_600_000);

    expect(checked).toEqual([]);
  });

  it("that cannot be checked again leaves the socket open", async () => {
    const { open, pass, problems } = await openSockets();
    const ada = await open("ada", undefined, { "x-unchecked": "yes" });

    await pass(60_000);

    expect(ada.state()).toBe("open");
    expect(problems()).toEqual([]);
  });

  it("leaves the socket open when the check fails, which is logged, and is checked again", async () => {
    const { open, pass, checks, checked, problems } = await openSockets();
    const ada = await open("ada");
    checks.isValid = () => Promise.reject(new Error("the store is down"));
    checked.length = 0;

    await pass(60_000);
    await pass(60_000);

    expect(ada.state()).toBe("open");
    expect(checked).toEqual(["ada", "ada"]);
    expect(problems().map(({ level, msg }) => [level, msg])).toEqual([
      ["warn", "failed to recheck a credential"],
      ["warn", "failed to recheck a credential"],
    ]);
  });

  it("of a caller who is not signed in is checked as well", async () => {
    const { open, pass, checks } = await openSockets();
    const guest = await open("");
    checks.isValid = async () => false;

    await pass(60_000);

    await expect.poll(guest.state).toEqual(REVOKED);
  });

  it("is no longer checked once the last socket has closed", async () => {
    const { open } = await openSockets();
    const idle = vi.getTimerCount();
    const [ada, bob] = [await open("ada"), await open("bob")];
    const counts = [vi.getTimerCount() - idle];
    for (const { socket } of [ada, bob]) {
      socket.close();
      await socket.closed;
      await rounds();
      counts.push(vi.getTimerCount() - idle);
    }
    await open("carl");
    counts.push(vi.getTimerCount() - idle);

    expect(counts).toEqual([1, 1, 0, 1]);
  });
});

describe("the end of the application", () => {
  it("closes sockets at once, or within socketSeconds if it is drained", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    onTestFinished(() => void vi.restoreAllMocks());
    const [closed, drained] = [
      await openSockets(),
      await openSockets({ shutdown: { delaySeconds: 0, socketSeconds: 1 } }),
    ];
    const [ada, bob, carl] = [await closed.open("ada"), await drained.open("bob"), await drained.open("carl")];

    await closed.app.close();
    const draining = drained.app.drain();
    carl.socket.close(4000);
    await carl.socket.closed;
    await rounds();
    const before = [ada.state(), bob.state()];
    await draining;

    expect(before).toEqual([[1001, "Going away"], "open"]);
    expect([bob.state(), carl.state()]).toEqual([
      [1001, "Going away"],
      [4000, ""],
    ]);
  });
});
