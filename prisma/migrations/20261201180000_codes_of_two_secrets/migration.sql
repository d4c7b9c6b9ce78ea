-- Whether a code of one of these tags waits for this person. The index keeps codes apart that were tagged with one secret; while two are
-- in use, mints for one person that must look for the other's tags stand in line here until they commit, and each looks after its turn came:
-- a statement's own snapshot may be older than the approval before it.
CREATE FUNCTION "is_code_taken"(p_iss TEXT, p_sub TEXT, p_tags BYTEA[])
RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF cardinality(p_tags) = 0 THEN RETURN FALSE; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('match_code' || E'\n' || p_iss || E'\n' || p_sub, 0));
  RETURN EXISTS (SELECT 1 FROM "approval" a WHERE a."subject_iss" = p_iss AND a."subject_sub" = p_sub AND a."status" = 'pending' AND a."match_tag" = ANY(p_tags));
END $$;
