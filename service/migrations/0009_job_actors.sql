-- Who asked for a job, so that its events name them: user_id, user_email, api_key_id, as the audit log has them.

ALTER TABLE jobs ADD COLUMN asked_by jsonb NOT NULL DEFAULT '{}';
