import { readdirSync, readFileSync } from "node:fs";

/** Resident memory in MB, by Linux's account of the process. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Processor time used so far by all its threads, in milliseconds (a tick is 10 ms). */
export function processorMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, in parentheses, may hold blanks; fields are counted behind it. utime is field 14 and stime field 15.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Sockets that the process holds open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
