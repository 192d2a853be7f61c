import { Injectable, UnauthorizedException } from "@nestjs/common";
import { JwtService } from "@nestjs/jwt";
import { compare } from "bcryptjs";
import { UsersRepository } from "../users/users.repository";

@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersRepository,
    private readonly jwt: JwtService,
  ) {}

  async login(email: string, password: string): Promise<{ access_token: string }> {
    const user = this.users.findByEmail(email);
    if (user === undefined || !(await compare(password, user.passwordHash))) {
      throw new UnauthorizedException("Incorrect email or password");
    }
    return { access_token: await this.jwt.signAsync({ sub: String(user.id) }) };
  }
}
