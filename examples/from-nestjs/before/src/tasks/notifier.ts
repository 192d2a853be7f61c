import { Injectable } from "@nestjs/common";

/** Tells a user about a new task. Replaced in tests, and by a mail service in production. */
export abstract class Notifier {
  abstract assigned(userId: number, title: string): Promise<void>;
}

@Injectable()
export class ConsoleNotifier extends Notifier {
  async assigned(userId: number, title: string): Promise<void> {
    console.log(`notified user ${userId}: ${title}`);
  }
}
