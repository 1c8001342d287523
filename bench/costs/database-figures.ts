import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/index.ts'

/** Counters of a database. */
export interface DatabaseFigures {
  statements: number
  transactions: number
  walBytes: number
  /** The size of all tables with their indexes. */
  storedBytes: number
}

/** Needs `pg_stat_statements` in the schema `statistics`. Does not count its own statements, nor `begin` and `commit`. */
export async function readDatabase(db: Db): Promise<DatabaseFigures> {
  const { rows } = await sql<DatabaseFigures>`
    select
      (select coalesce(sum(calls), 0)::bigint from statistics.pg_stat_statements
        where dbid = (select oid from pg_database where datname = current_database())
          and query !~* '^(begin|commit|rollback|start transaction)' and query not like '%pg_stat_%') as statements,
      (select xact_commit from pg_stat_database where datname = current_database()) as transactions,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as "walBytes",
      (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind = 'r') as "storedBytes"`.execute(db.read)
  const [figures] = rows
  if (figures === undefined) throw new Error('PostgreSQL returned no figures.')
  return figures
}

export interface TableSize {
  name: string
  rows: number
  /** With the parts of large values. */
  tableBytes: number
  indexBytes: number
}

/** Tables with rows, the largest first. Exact after `vacuum analyze`. */
export async function readTables(db: Db): Promise<TableSize[]> {
  const { rows } = await sql<TableSize>`
    select c.relname as name, c.reltuples::bigint as rows, pg_table_size(c.oid)::bigint as "tableBytes",
      pg_indexes_size(c.oid)::bigint as "indexBytes"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind = 'r' and c.reltuples > 0
    order by pg_total_relation_size(c.oid) desc`.execute(db.read)
  return rows
}

export async function vacuum(db: Db): Promise<void> {
  await sql`vacuum analyze`.execute(db.read)
  await sql`checkpoint`.execute(db.read)
}
