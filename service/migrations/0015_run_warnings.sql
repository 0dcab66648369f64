-- What a run says before its results: who said which day its figures are of, and what makes them doubtful.
-- `as_of` is the day that was used; of runs before this one, the day for a workbook that named none.
ALTER TABLE compliance_runs
    ADD COLUMN as_of_source text
        CHECK (as_of_source IN ('request', 'workbook', 'file', 'column', 'modified', 'upload')),
    ADD COLUMN warnings json NOT NULL DEFAULT '[]';
