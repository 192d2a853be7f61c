import { json, Router } from "express";
import { isPasswordRight } from "../database/passwords.ts";
import { prisma } from "../database/prisma.ts";
import { HttpError } from "./http-error.ts";
import { issueToken } from "./tokens.ts";

export const loginRoute: Router = Router();

loginRoute.post("/login", json(), async (request, response) => {
  const { email, password } = (request.body ?? {}) as Record<string, unknown>;
  if (typeof email !== "string" || typeof password !== "string")
    throw new HttpError(400, "email and password are required");
  const person = await prisma.person.findUnique({ where: { email } });
  if (person === null || !(await isPasswordRight(password, person.passwordHash)))
    throw new HttpError(401, "Incorrect email or password");
  response.json({ token: await issueToken(person) });
});
