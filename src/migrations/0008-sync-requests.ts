import { type Kysely, sql } from 'kysely'

/**
 * Sync and push renewal no longer use the job queue: a requested sync is a column of its account, and what operators see of the runs
 * is a row that changes with it.
 */
export const name = '0008-sync-requests'

interface AccountSettings {
  id: string
  provider: string
  settings: string
}

const BATCH = 500

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "accounts" add column "syncRequestedAt" bigint`.execute(db)
  await sql`alter table "accounts" add column "mailHost" text not null default ''`.execute(db)
  await sql`create index "accounts_syncRequestedAt" on "accounts" ("ownerInstance", "id", "syncRequestedAt")
    where "syncRequestedAt" is not null`.execute(db)
  await fillMailHosts(db)

  await sql`alter table "instances" add column "syncTotals" text`.execute(db)
  await sql`create table "syncStates" (
    "accountId" text not null primary key,
    "attempts" bigint not null,
    "lastRunAt" bigint,
    "nextRunAt" bigint,
    "lastError" text)`.execute(db)
  await sql`create index "pushSubscriptions_due" on "pushSubscriptions" ("accountId") where "renewAt" = 0`.execute(db)
}

/** The rule of `mailHostOf` at this version. */
async function fillMailHosts(db: Kysely<unknown>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<AccountSettings>`select "id", "provider", "settings" from "accounts"
      where "id" > ${after} order by "id" limit ${BATCH}`.execute(db)
    for (const { id, provider, settings } of rows) {
      const { imap } = JSON.parse(settings)
      const host = provider === 'imap' && imap ? `${String(imap.host).toLowerCase()}:${imap.port}` : provider
      await sql`update "accounts" set "mailHost" = ${host} where "id" = ${id}`.execute(db)
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}
