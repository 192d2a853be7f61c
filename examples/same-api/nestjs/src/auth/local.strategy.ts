import { Injectable, UnauthorizedException } from "@nestjs/common";
import { PassportStrategy } from "@nestjs/passport";
import { compare } from "bcrypt";
import { Strategy } from "passport-local";
import type { User } from "../users/user.js";
import { UsersService } from "../users/users.service.js";

@Injectable()
export class LocalStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly users: UsersService) {
    super({ usernameField: "identifier" });
  }

  async validate(username: string, password: string): Promise<User> {
    const user = this.users.findByName(username);
    if (user === undefined || !(await compare(password, user.passwordHash))) throw new UnauthorizedException();
    return user;
  }
}
