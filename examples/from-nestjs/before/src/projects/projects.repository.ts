import { Injectable } from "@nestjs/common";
import type { Page } from "../common/page";
import type { PageArgs } from "../common/page.args";
import { DatabaseService } from "../database/database.service";
import type { User } from "../users/user.entity";
import type { UpdateProjectDto } from "./project.dto";
import type { Project } from "./project.entity";

@Injectable()
export class ProjectsRepository {
  constructor(private readonly database: DatabaseService) {}

  findById(id: number): Project | undefined {
    return this.database.get<Project>("select * from projects where id = ?", id);
  }

  findByIds(ids: readonly number[]): Project[] {
    return this.database.all(`select * from projects where id in (${ids.map(() => "?").join(", ")})`, ...ids);
  }

  /** Admins see all projects, other users those they are a member of. */
  findVisible(user: User, { limit, offset }: PageArgs): Page<Project> {
    const [where, values] =
      user.role === "ADMIN"
        ? ["", []]
        : [`where id in (select "projectId" from members where "userId" = ?)`, [user.id]];
    const items = this.database.all<Project>(
      `select * from projects ${where} order by "createdAt" desc, id desc limit ? offset ?`,
      ...values,
      limit,
      offset,
    );
    const count = this.database.get<{ total: number }>(`select count(*) as total from projects ${where}`, ...values);
    return { items, total: count?.total ?? 0, limit, offset };
  }

  isMember(projectId: number, userId: number): boolean {
    const sql = `select 1 from members where "projectId" = ? and "userId" = ?`;
    return this.database.get(sql, projectId, userId) !== undefined;
  }

  create(name: string, description: string | null, ownerId: number): Project {
    return this.database.transaction(() => {
      const [project] = this.database.all<Project>(
        `insert into projects (name, description, "ownerId", "createdAt") values (?, ?, ?, ?) returning *`,
        name,
        description,
        ownerId,
        new Date().toISOString(),
      );
      this.database.all(`insert into members ("projectId", "userId") values (?, ?)`, project.id, ownerId);
      return project;
    });
  }

  update(project: Project, { name = project.name, description = project.description }: UpdateProjectDto): Project {
    const sql = "update projects set name = ?, description = ? where id = ? returning *";
    return this.database.all<Project>(sql, name, description, project.id)[0];
  }

  delete(id: number): boolean {
    return this.database.all("delete from projects where id = ? returning id", id).length > 0;
  }
}
