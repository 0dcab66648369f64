-- Status reads that wait (?wait=) are woken where a record changes its state. A message has identifiers alone.

CREATE FUNCTION announce_state() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_states', NEW.tenant_id || ' ' || NEW.id); RETURN NULL; END $$;

-- Runs of a formula are read as its list.
CREATE FUNCTION announce_run() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('cushion_states', NEW.tenant_id || ' ' || NEW.config_id); RETURN NULL; END $$;

CREATE TRIGGER workbooks_state AFTER UPDATE OF status, written_by, deleted_at ON workbooks FOR EACH ROW
    WHEN ((OLD.status, OLD.written_by, OLD.deleted_at) IS DISTINCT FROM (NEW.status, NEW.written_by, NEW.deleted_at))
    EXECUTE FUNCTION announce_state();
CREATE TRIGGER tapes_state AFTER UPDATE OF processing_status ON tapes FOR EACH ROW
    WHEN (OLD.processing_status IS DISTINCT FROM NEW.processing_status) EXECUTE FUNCTION announce_state();
CREATE TRIGGER reconciliations_state AFTER UPDATE OF status ON reconciliations FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_state();
CREATE TRIGGER exports_state AFTER UPDATE OF status, progress ON exports FOR EACH ROW
    WHEN ((OLD.status, OLD.progress::text) IS DISTINCT FROM (NEW.status, NEW.progress::text))
    EXECUTE FUNCTION announce_state();
CREATE TRIGGER reports_state AFTER UPDATE OF status ON reports FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_state();
CREATE TRIGGER scenarios_state AFTER UPDATE OF simulation ON scenarios FOR EACH ROW EXECUTE FUNCTION announce_state();
CREATE TRIGGER formula_runs_state AFTER UPDATE OF status ON formula_runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION announce_run();
-- A queued job is shown as one that is pending, so its hand-over is no change.
CREATE TRIGGER jobs_state AFTER UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued') EXECUTE FUNCTION announce_state();
