/** Tells a user about a new task. Tests replace it with `app.override(notifier, ...)`. */
export const notifier = () => ({
  async assigned(userId: number, title: string): Promise<void> {
    console.log(`notified user ${userId}: ${title}`);
  },
});
