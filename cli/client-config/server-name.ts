/**
 * A name for the server that a client takes as it is: runs of other characters become one hyphen. `strange` matches such runs, with the flag
 * `g`. Where nothing is left it is `mcp-server`.
 */
export function plainName(server: string, strange: RegExp): string {
  const name = server.replace(strange, "-").replace(/^[-.]+|[-.]+$/g, "");
  return name === "" ? "mcp-server" : name;
}

/** What a person has to do where the settings are for another name than the one given. */
export function renamed(server: string, name: string): string[] {
  return server === name
    ? []
    : [`Register the server as ${name}: rules for the name ${JSON.stringify(server)} would match nothing here.`];
}
