create table users (
  id integer primary key,
  email text not null unique,
  name text not null,
  role text not null,
  "passwordHash" text not null
);

create table projects (
  id integer primary key,
  name text not null,
  description text,
  "ownerId" integer not null references users (id),
  "createdAt" text not null
);

create table members (
  "projectId" integer not null references projects (id) on delete cascade,
  "userId" integer not null references users (id),
  primary key ("projectId", "userId")
);

create table tasks (
  id integer primary key,
  "projectId" integer not null references projects (id) on delete cascade,
  title text not null,
  status text not null,
  "assigneeId" integer references users (id),
  "createdAt" text not null
);
