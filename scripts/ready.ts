import { ensureGenerated } from "./generate";

// Loaded before entries that import the database's client, which a fresh checkout does not have yet.
ensureGenerated();
