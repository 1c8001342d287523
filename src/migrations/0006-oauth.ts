import { type Kysely, sql } from 'kysely'

/** OAuth: leases for token refreshes, pending revocations of deleted accounts, and running consents. */
export const name = '0006-oauth'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "accounts" add column "tokenLease" text`.execute(db)
  await sql`alter table "accounts" add column "tokenLeaseUntil" bigint`.execute(db)
  // Finds other accounts of the same user, because revoking a grant affects all of them.
  await sql`create index "accounts_providerUser" on "accounts" ("providerUser")`.execute(db)
  await sql`alter table "accountErasures" add column "revocation" text`.execute(db)

  await sql`create table "oauthFlows" (
    "stateHash" text not null primary key,
    "sessionId" text not null,
    "provider" text not null,
    "facts" text not null,
    "usedAt" bigint,
    "expiresAt" bigint not null,
    "createdAt" bigint not null)`.execute(db)
  await sql`create index "oauthFlows_expiresAt" on "oauthFlows" ("expiresAt")`.execute(db)
}
