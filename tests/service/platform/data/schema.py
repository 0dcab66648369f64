"""A database's schema as sorted lines of text, for comparing two databases.

Left out is what may differ between equal schemas: comments and spaces within a function, the owner's name, names of
partitions' indexes, the moments at which partitions begin and end, and whether a constraint was checked on old rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

EXPECTED = Path(__file__).with_name("schema.txt")
"""The schema that the files of `service/migrations` make up to the last of the first release."""

_TABLES = "c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"

_RIGHTS = """
    CREATE FUNCTION pg_temp.rights(rights aclitem[]) RETURNS text LANGUAGE sql AS $$
        SELECT coalesce(string_agg(role || '=' || rights, ' ' ORDER BY role), '-') FROM (
            SELECT CASE grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(grantee) END AS role,
                   string_agg(privilege_type, ',' ORDER BY privilege_type) AS rights
            FROM aclexplode(rights)
            WHERE grantee <> (SELECT relowner FROM pg_class WHERE oid = 'public.tenants'::regclass)
            GROUP BY 1) AS granted
    $$
"""

_QUERIES = (
    """
    SELECT format('role %s login=%s superuser=%s bypassrls=%s', rolname, rolcanlogin, rolsuper, rolbypassrls)
    FROM pg_roles WHERE rolname LIKE 'cushion\\_%'
    """,
    """
    SELECT format('schema public %s', pg_temp.rights(nspacl)) FROM pg_namespace WHERE nspname = 'public'
    UNION ALL
    SELECT format('database temporary=%s', has_database_privilege('cushion_service', current_database(), 'TEMPORARY'))
    """,
    f"""
    SELECT format('table %s owner=%s security=%s,%s options=%s key=%s %s', relname, pg_get_userbyid(relowner),
                  relrowsecurity, relforcerowsecurity, reloptions, pg_get_partkeydef(c.oid),
                  pg_temp.rights(coalesce(relacl, acldefault('r', relowner))))
    FROM pg_class c WHERE {_TABLES}
    """,
    f"""
    SELECT format('columns %s ', relname) || string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod),
               CASE WHEN attnotnull THEN 'not null' END,
               CASE WHEN attcollation <> typcollation THEN 'collate ' || attcollation::regcollation END,
               'identity ' || NULLIF(attidentity::text, ''), 'generated ' || NULLIF(attgenerated::text, ''),
               'default ' || pg_get_expr(adbin, adrelid), 'rights ' || NULLIF(pg_temp.rights(attacl), '-')), '; '
               ORDER BY attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    JOIN pg_type t ON t.oid = atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = attnum WHERE {_TABLES} GROUP BY relname
    """,
    f"""
    SELECT format('constraint %s.%s %s', relname, conname, replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''))
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE {_TABLES} AND contype IN ('c', 'f', 'p', 'u', 'x')
    """,
    f"""
    SELECT format('index %s.%s %s', c.relname, i.relname, pg_get_indexdef(i.oid))
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    WHERE {_TABLES} AND x.indexrelid NOT IN (
        SELECT conindid FROM pg_constraint WHERE contype IN ('p', 'u', 'x'))
    """,
    """
    SELECT format('policy %s.%s %s %s to=%s using=%s check=%s', tablename, policyname, permissive, cmd, roles, qual,
                  with_check)
    FROM pg_policies JOIN pg_class c ON c.oid = tablename::regclass WHERE NOT c.relispartition
    """,
    f"""
    SELECT format('trigger %s.%s enabled=%s %s', relname, tgname, tgenabled, pg_get_triggerdef(t.oid))
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE {_TABLES} AND NOT tgisinternal
    """,
    """
    SELECT format('view %s owner=%s options=%s %s %s', relname, pg_get_userbyid(relowner), reloptions,
                  pg_temp.rights(coalesce(relacl, acldefault('r', relowner))), pg_get_viewdef(oid))
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')
    """,
    """
    SELECT format('sequence %s of=%s %s %s', c.oid::regclass, d.refobjid::regclass,
                  (s.seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle),
                  pg_temp.rights(coalesce(c.relacl, acldefault('s', c.relowner))))
    FROM pg_sequence s JOIN pg_class c ON c.oid = seqrelid
    LEFT JOIN pg_depend d ON d.objid = c.oid AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
    """,
    """
    SELECT format('type %s', t.oid::regtype) FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('c', 'd', 'e', 'r')
      AND coalesce(c.relkind, 'c') = 'c'
    UNION ALL
    SELECT format('extension %s', extname) FROM pg_extension
    UNION ALL
    SELECT format('comment %s', obj_description(c.oid)) FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND obj_description(c.oid) IS NOT NULL
    """,
)

_FUNCTIONS = """
    SELECT format('function %s(%s) %s %s %s%s%s parallel=%s strict=%s settings=%s owner=%s %s', proname,
                  pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), lanname, prokind, provolatile,
                  CASE WHEN prosecdef THEN ' definer' ELSE '' END, proparallel, proisstrict, proconfig,
                  pg_get_userbyid(proowner), pg_temp.rights(coalesce(proacl, acldefault('f', proowner)))),
           coalesce(pg_get_function_sqlbody(p.oid), prosrc)
    FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE pronamespace = 'public'::regnamespace
"""

_PARTITIONS = """
    SELECT i.inhparent::regclass::text, c.relname, pg_get_expr(c.relpartbound, c.oid),
           format('security=%s,%s %s', c.relrowsecurity, c.relforcerowsecurity,
                  pg_temp.rights(coalesce(c.relacl, acldefault('r', c.relowner)))),
           ARRAY(SELECT format('policy=%s:%s', policyname, roles) FROM pg_policies WHERE tablename = c.relname)
           || ARRAY(SELECT substr(pg_get_indexdef(indexrelid), strpos(pg_get_indexdef(indexrelid), ' USING '))
                    FROM pg_index WHERE indrelid = c.oid ORDER BY 1)
           || ARRAY(SELECT format('trigger=%s:%s', tgname, tgenabled) FROM pg_trigger
                    WHERE tgrelid = c.oid AND NOT tgisinternal ORDER BY 1)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relkind = 'r' ORDER BY 1, 2
"""


def schema_lines(connection: psycopg.Connection[Any]) -> list[str]:
    """Describe everything in the database, and the rows that it begins with."""
    with connection.transaction():
        connection.execute("SET LOCAL search_path = public, pg_temp")
        connection.execute(_RIGHTS)
        ((owner,),) = connection.execute("SELECT tableowner FROM pg_tables WHERE tablename = 'tenants'").fetchall()
        lines = [line for query in _QUERIES for (line,) in connection.execute(query.encode()).fetchall()]
        lines += [f"{line} {_without_comments(body)}" for line, body in connection.execute(_FUNCTIONS).fetchall()]
        lines += _partitions(connection)
        lines += [
            f"rows {table} {row}"
            for table in ("deployment", "switches")
            for row in connection.execute(f"SELECT * FROM {table}".encode()).fetchall()
        ]
        connection.execute("DROP FUNCTION pg_temp.rights")
    uuid = r"UUID\('[^']*'\)"
    spaced = (re.sub(r"\s+", " ", re.sub(uuid, "UUID", line)).strip() for line in lines)
    return sorted(re.sub(rf"\b{re.escape(owner)}\b", "owner", line) for line in spaced)


def _without_comments(body: str) -> str:
    return re.sub(r"\(\s+", "(", re.sub(r"--[^\n]*", "", body))


def _partitions(connection: psycopg.Connection[Any]) -> list[str]:
    numbers: dict[str, int] = {}
    lines = []
    for parent, name, bound, rights, details in connection.execute(_PARTITIONS).fetchall():
        if re.search(r"_\d{8}$", name):
            numbers[parent] = numbers.get(parent, 0) + 1
            name = f"{parent}_{numbers[parent]}"
        bound = re.sub(r"'[^']*'", "moment", bound)
        lines.append(f"partition {name} {bound} {rights} {'; '.join(details)}")
    return lines
