import { type Kysely, sql } from 'kysely'

/** The circuit breaker of each webhook endpoint: after repeated failures deliveries wait, and one probes from time to time. */
export const name = '0003-circuit'

export async function up(db: Kysely<unknown>): Promise<void> {
  const add = (column: string) => sql`alter table "webhookEndpoints" add column ${sql.raw(column)}`.execute(db)
  await add(`"circuitState" text not null default 'closed'`)
  await add('"circuitFailures" integer not null default 0')
  await add('"circuitPauses" integer not null default 0')
  await add('"circuitOpenedAt" bigint')
  await add('"circuitProbeAt" bigint')
}
