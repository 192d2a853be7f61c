import { Controller, HttpCode, Post, Req, UseGuards } from "@nestjs/common";
import { JwtService } from "@nestjs/jwt";
import { AuthGuard } from "@nestjs/passport";
import type { User } from "../users/user.js";

@Controller("account")
export class AuthController {
  constructor(private readonly jwt: JwtService) {}

  @UseGuards(AuthGuard("local"))
  @HttpCode(200)
  @Post("token")
  signIn(@Req() request: { user: User }): { access_token: string } {
    return { access_token: this.jwt.sign({ sub: request.user.id }) };
  }
}
