import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Job, JobEnd, JobStore } from "@countersign/mcp";

type Row = { job: Job; end?: JobEnd };

export type FileJobs = JobStore & {
  /** A job, open or ended. */
  look(approvalId: string): Row | undefined;
};

/**
 * Jobs in one JSON file: for one process on one machine. A server with replicas keeps them in its database instead, each method one
 * statement. The file is always whole: what is new is written beside it, flushed, and put in its place.
 */
export async function openJobs(file: string): Promise<FileJobs> {
  const rows = new Map(await readRows(file));
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    const content = JSON.stringify([...rows]);
    const written = writing.then(() => replace(file, content));
    writing = written.catch(() => {});
    await written;
  };
  const isOpen = ({ end }: Row) => end === undefined;
  return {
    async put(job) {
      rows.set(job.approvalId, { job });
      await write();
    },
    async find(approvalId) {
      const row = rows.get(approvalId);
      return row !== undefined && isOpen(row) ? row.job : undefined;
    },
    open: async () => [...rows.values()].filter(isOpen).map(({ job }) => job),
    async end(approvalId, end) {
      const row = rows.get(approvalId);
      if (row === undefined) return;
      rows.set(approvalId, { ...row, end });
      await write();
    },
    look: (approvalId) => rows.get(approvalId),
  };
}

async function readRows(file: string): Promise<[string, Row][]> {
  const content = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    // A file that cannot be read is not an empty one.
    if (error.code !== "ENOENT") throw error;
    return "[]";
  });
  return JSON.parse(content) as [string, Row][];
}

/** Arguments and names are in it, so that only this account may read it. */
async function replace(file: string, content: string): Promise<void> {
  const next = `${file}.next`;
  const handle = await open(next, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
