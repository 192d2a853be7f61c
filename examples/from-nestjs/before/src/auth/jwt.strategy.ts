import { Injectable, UnauthorizedException } from "@nestjs/common";
import { PassportStrategy } from "@nestjs/passport";
import { ExtractJwt, Strategy } from "passport-jwt";
import type { User } from "../users/user.entity";
import { UsersRepository } from "../users/users.repository";
import { JWT_AUDIENCE, JWT_SECRET } from "./jwt.constants";

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly users: UsersRepository) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: JWT_SECRET,
      audience: JWT_AUDIENCE,
    });
  }

  validate(payload: { sub: string }): User {
    const user = this.users.findById(Number(payload.sub));
    if (user === undefined) throw new UnauthorizedException();
    return user;
  }
}
