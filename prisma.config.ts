import { defineConfig } from "prisma/config";

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  // Not `env()`: that throws when the variable is unset, and generating needs no database.
  ...(process.env["DATABASE_URL"] ? { datasource: { url: process.env["DATABASE_URL"] } } : {}),
});
