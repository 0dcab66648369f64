-- Nobody but the owner makes anything in the schema public.
--
-- The functions of cushion_definer look there for what they name. PostgreSQL 15 closed it, but a database that was made
-- by an older one and upgraded is still open: an operator that fits their types better than the built-in one would run
-- with their rights, and could write an audit log of its own.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
