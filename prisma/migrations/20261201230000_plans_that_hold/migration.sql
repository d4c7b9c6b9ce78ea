-- The plans of these functions are kept for the life of a connection, so they must not depend on how small a table was when they were made:
-- a generic plan takes an array for ten values, finds an empty table cheaper to read whole, and then reads it whole at every mint until
-- statistics of the grown table arrive. Every condition in them has an index.
ALTER FUNCTION "mint_window"(TEXT, TEXT, TEXT, BYTEA[], BOOLEAN) SET enable_seqscan = off;
ALTER FUNCTION "is_code_taken"(TEXT, TEXT, BYTEA[]) SET enable_seqscan = off;
