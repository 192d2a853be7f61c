import { beforeEach } from "vitest";
import { slowTests } from "./folders.ts";

beforeEach(({ task, skip }) => {
  if (slowTests.some((part) => task.name.includes(part))) skip();
});
