export interface User {
  id: string;
  username: string;
  passwordHash: string;
  permissions: string[];
}
