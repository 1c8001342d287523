import pg from 'pg'
import { expect } from 'vitest'

/** Records of database triggers about owners and writers of accounts. */
export interface OwnershipJournal {
  /** Connects again, after a restart of the server. */
  reconnect(): Promise<void>
  /** Throws unless every instance has had heartbeats for so long since the last connection was made. */
  expectHeartbeatsFor(ms: number): Promise<void>
  /** Throws unless so many living replicas own all accounts, in equal shares. */
  expectShares(replicas: number, accounts: number): Promise<void>
  expectNoAccountsOf(instanceId: string): Promise<void>
  /** Owner and epoch of each account. */
  epochs(): Promise<string[]>
  /** When an account last got an owner, in milliseconds since 1970 by the clock of the database. */
  lastGainedAt(): Promise<number>
  /** When `message.received` was recorded for the messages with this subject, in milliseconds since 1970. */
  arrivals(subject: string): Promise<number[]>
  /** When the only instance started, by the clock of the database. */
  startOfOnlyInstance(): Promise<number>
  /** Throws unless the syncs of each account were stored by one replica per epoch, in the order of the epochs. */
  expectOneWriterPerEpoch(): Promise<void>
  close(): Promise<void>
}

/** A sync stores its cursor in the transaction that stores its messages, while it holds the account's row. */
const TRIGGERS = `
  create table "testWrites" ("id" bigserial primary key, "accountId" text, "epoch" integer, "writer" text);
  create function "testWrite"() returns trigger language plpgsql as $$
    begin
      insert into "testWrites" ("accountId", "epoch", "writer")
        select new."accountId", "epoch", current_setting('application_name') from accounts where id = new."accountId";
      return new;
    end $$;
  create trigger "testWrite" after insert or update on "syncCursors" for each row execute function "testWrite"();
  create table "testOwners" ("at" timestamptz not null default clock_timestamp(), "accountId" text, "epoch" integer);
  create function "testOwner"() returns trigger language plpgsql as $$
    begin
      insert into "testOwners" ("accountId", "epoch") values (new.id, new.epoch);
      return new;
    end $$;
  create trigger "testOwner" after update on accounts for each row when (new.epoch <> old.epoch)
    execute function "testOwner"();
`

/** `url`: a database that a service has migrated. */
export async function openOwnershipJournal(url: string): Promise<OwnershipJournal> {
  let client = await connect(url)
  await client.query(TRIGGERS)
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(text, values)).rows
  const now = async () =>
    (await query<{ at: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as at'))[0]?.at ?? 0
  let connectedAt = await now()

  return {
    async reconnect() {
      client = await connect(url)
      connectedAt = await now()
    },

    async expectHeartbeatsFor(ms) {
      const [oldest] = await query<{ at: number }>(`select min("heartbeatAt")::float8 as at from instances`)
      expect(oldest?.at).toBeGreaterThan(connectedAt + ms)
    },

    async expectShares(replicas, accounts) {
      const rows = await query<{ count: number }>(
        `select count(*)::int as count from accounts join instances on instances.id = "ownerInstance"
           group by instances.id order by count`,
      )
      const counts = rows.map(({ count }) => count)
      expect(counts).toHaveLength(replicas)
      expect(counts.reduce((total, count) => total + count, 0)).toBe(accounts)
      expect((counts.at(-1) ?? 0) - (counts[0] ?? 0)).toBeLessThanOrEqual(1)
    },

    async expectNoAccountsOf(instanceId) {
      const [left] = await query<{ count: number }>(
        `select count(*)::int as count from accounts where "ownerInstance" = $1
           or "ownerInstance" is null or "ownerInstance" not in (select id from instances)`,
        [instanceId],
      )
      expect(left?.count).toBe(0)
    },

    async epochs() {
      const rows = await query<{ line: string }>(
        `select concat(id, ' ', "ownerInstance", ' ', epoch) as line from accounts order by id`,
      )
      return rows.map(({ line }) => line)
    },

    async lastGainedAt() {
      const [row] = await query<{ at: number }>(
        `select (extract(epoch from max("at")) * 1000)::float8 as at from "testOwners"`,
      )
      return row?.at ?? 0
    },

    async arrivals(subject) {
      const rows = await query<{ at: number }>(
        `select "createdAt"::float8 as at from events where type = 'message.received' and position($1 in data) > 0`,
        [JSON.stringify(subject)],
      )
      return rows.map(({ at }) => at)
    },

    async startOfOnlyInstance() {
      const starts = await query<{ at: number }>('select "startedAt"::float8 as at from instances')
      expect(starts).toHaveLength(1)
      return starts[0]?.at ?? 0
    },

    async expectOneWriterPerEpoch() {
      const several = await query(
        `select "accountId", epoch from "testWrites" group by 1, 2 having count(distinct writer) > 1`,
      )
      expect(several).toEqual([])
      const backwards = await query(
        `select * from (select "accountId", epoch, lag(epoch) over (partition by "accountId" order by id) as before
           from "testWrites") as writes where epoch < before`,
      )
      expect(backwards).toEqual([])
      const [written] = await query<{ count: number }>('select count(*)::int as count from "testWrites"')
      expect(written?.count).toBeGreaterThan(0)
    },

    close: () => client.end(),
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The server restarts.
  client.on('error', () => {})
  await client.connect()
  return client
}
