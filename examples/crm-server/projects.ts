import { readFileSync, renameSync, writeFileSync } from "node:fs";

export type Project = {
  id: string;
  name: string;
  items: number;
  /** Counts the changes: what was approved for version 3 does not run on version 4. */
  version: number;
  deletedAt?: string;
};

/** One line for each time that a changing tool really ran. */
export type Execution = {
  at: string;
  tool: "update_project" | "delete_project";
  projectId: string;
  by: string;
  approvalId?: string;
};

type Data = { projects: Project[]; executions: Execution[] };

/** The CRM's data. Deleting marks a project as deleted, so that anyone can see afterwards what happened and how often. */
export type Projects = {
  all(): Data;
  find(id: string): Project | undefined;
  rename(id: string, name: string, by: string): Project | undefined;
  delete(id: string, by: string, approvalId: string): Project | undefined;
};

/** Opens the data kept in `file` as JSON, or in memory without one; the first time it holds three projects. */
export function openProjects(file?: string): Projects {
  const data = (file === undefined ? undefined : readData(file)) ?? firstData();
  const find = (id: string): Project | undefined =>
    data.projects.find((project) => project.id === id && project.deletedAt === undefined);

  const change = (id: string, execution: Omit<Execution, "at" | "projectId">, edit: (project: Project) => void) => {
    const project = find(id);
    if (project === undefined) return undefined;
    edit(project);
    project.version += 1;
    data.executions.push({ at: new Date().toISOString(), projectId: id, ...execution });
    if (file !== undefined) writeData(file, data);
    return project;
  };

  return {
    all: () => structuredClone(data),
    find,
    rename: (id, name, by) =>
      change(id, { tool: "update_project", by }, (project) => {
        project.name = name;
      }),
    delete: (id, by, approvalId) =>
      change(id, { tool: "delete_project", by, approvalId }, (project) => {
        project.deletedAt = new Date().toISOString();
      }),
  };
}

function firstData(): Data {
  return {
    projects: [
      { id: "p_41", name: "Zephyr", items: 12, version: 1 },
      { id: "p_42", name: "Apollo", items: 318, version: 1 },
      { id: "p_43", name: "Hermes", items: 74, version: 1 },
    ],
    executions: [],
  };
}

function readData(file: string): Data | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Data;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes beside and renames: a reader sees the old data or the new, never half of it. */
function writeData(file: string, data: Data): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(data, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
