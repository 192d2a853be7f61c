import { Injectable, UnauthorizedException } from "@nestjs/common";
import { PassportStrategy } from "@nestjs/passport";
import { ExtractJwt, Strategy } from "passport-jwt";
import type { User } from "../users/user.js";
import { UsersService } from "../users/users.service.js";
import { secret } from "./secret.js";

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly users: UsersService) {
    super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: secret, audience: "bookshop" });
  }

  validate(payload: { sub: string }): User {
    const user = this.users.findById(payload.sub);
    if (user === undefined) throw new UnauthorizedException();
    return user;
  }
}
