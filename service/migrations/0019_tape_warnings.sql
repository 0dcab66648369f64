-- Warnings of tapes and comparisons have a code, as those of runs; what was said before has none of its own.
ALTER TABLE tapes ADD COLUMN warnings json NOT NULL DEFAULT '[]';

ALTER TABLE tapes NO FORCE ROW LEVEL SECURITY;  -- else the owner sees no row
UPDATE tapes SET warnings = (
    SELECT json_agg(json_build_object('code', 'uncoded', 'message', said)) FROM json_array_elements_text(facts -> 'warnings') said)
WHERE json_array_length(facts -> 'warnings') > 0;
ALTER TABLE tapes FORCE ROW LEVEL SECURITY;

ALTER TABLE reconciliations NO FORCE ROW LEVEL SECURITY;
UPDATE reconciliations SET warnings = (
    SELECT json_agg(json_build_object('code', 'uncoded', 'message', said)) FROM json_array_elements_text(warnings) said)
WHERE json_array_length(warnings) > 0;
ALTER TABLE reconciliations FORCE ROW LEVEL SECURITY;
