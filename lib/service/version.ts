import manifest from "@/package.json";

/** Of this service, as its package says. */
export const version: string = manifest.version;
