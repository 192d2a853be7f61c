import { consoleMailer, type Mail } from "portico/auth";
import { afterEach, expect, it, vi } from "vitest";

afterEach(() => void vi.restoreAllMocks());

it.each<[Mail, string]>([
  [
    { to: "ann@example.org", kind: "reset", url: "http://localhost/reset?token=x" },
    "reset http://localhost/reset?token=x",
  ],
  [
    { to: "ann@example.org", kind: "sign_in", url: "http://localhost/in", code: "123456" },
    "sign_in http://localhost/in 123456",
  ],
  [{ to: "ann@example.org", kind: "password_changed", url: null }, "password_changed"],
])("prints %j on one line", async (mail, text) => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await consoleMailer()(mail);
  const printed = write.mock.calls.map(([line]) => line);
  write.mockRestore();

  expect(printed).toEqual([`mail to ann@example.org: ${text}\n`]);
});
