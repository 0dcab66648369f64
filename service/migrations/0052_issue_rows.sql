-- In which rows of the tape's and of the workbook's sheet an issue's loan stands, from 1; null where a side lacks the
-- loan, or its comparison was made before rows were kept.
ALTER TABLE reconciliation_issues ADD COLUMN trustee_row integer, ADD COLUMN internal_row integer;
