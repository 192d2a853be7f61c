import { expect, it } from "vitest";
import { IdentityRecord } from "../../lab/soak/faults/identity-record.ts";

const ada = { name: "ada", headers: { cookie: "session=1" } };

it("counts responses that name the owner of the credential", () => {
  const record = new IdentityRecord();
  record.compare(ada, "/private", "ada");
  expect(record.all).toEqual({ checked: 1, mistaken: [], refused: [] });
});

it.each(["bob", "", null, undefined])("records a response that names %j instead", (named) => {
  const record = new IdentityRecord();
  const sentence = `/private named ${JSON.stringify(named)} for the credential of ada`;
  expect(() => record.compare(ada, "/private", named)).toThrow(sentence);
  expect(record.all).toEqual({ checked: 1, mistaken: [sentence], refused: [] });
});

it("records a valid credential that was rejected", () => {
  const record = new IdentityRecord();
  record.refuse(ada, "/private");
  expect(record.all.refused).toEqual(["/private rejected the valid credential of ada"]);
});
