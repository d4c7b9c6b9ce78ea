import { callerFromAuthInfo, createGate, type GateOptions } from "@countersign/mcp";
import { serveMcp } from "../support/serve";
import { openProjects, type Projects } from "./projects";
import { createTokenVerifier, type Tokens } from "./tokens";
import { createCrmServer } from "./tools";

export type CrmServerOptions = {
  /** Where Countersign is, this server's key there, and whatever else the gate takes. */
  gate: Omit<GateOptions, "resolveCaller">;
  tokens: Tokens;
  /** 0 takes a free port. */
  port?: number;
  host?: string;
  /** Host names under which it may be called and from which a page may call it, beside those of loopback. */
  allowedHosts?: readonly string[];
  /** Keeps the data in this file; without it in memory. */
  dataFile?: string;
};

export type CrmServer = {
  /** The MCP endpoint. */
  url: string;
  projects: Projects;
  close(): Promise<void>;
};

/** Starts the example: one MCP endpoint over Streamable HTTP for both eras, callers known by bearer token. */
export async function startCrmServer({
  gate: options,
  tokens,
  dataFile,
  ...where
}: CrmServerOptions): Promise<CrmServer> {
  const projects = openProjects(dataFile);
  const gate = createGate({ ...options, resolveCaller: callerFromAuthInfo });
  const createServer = () => createCrmServer(gate, projects);
  const served = await serveMcp({ ...where, createServer, verifier: createTokenVerifier(tokens) });
  return { ...served, projects };
}
