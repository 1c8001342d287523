import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase, describeOneDatabase } from '../../../test/kit/database/database.ts'
import { openDatabase } from '../../../test/kit/database/open-database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { compose } from '../../../test/kit/service/composition.ts'
import { startServiceProcess } from '../../../test/kit/service/process.ts'
import { sealedColumns } from '../../app/feature-list.ts'
import { type RingKey, type Sealer, sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'

const buildKey = (id: string, byte: number): RingKey => ({ id, key: Buffer.alloc(32, byte) })
const WRITES = 100
const [K0, K1, K2] = [buildKey('k0', 6), buildKey('k1', 7), buildKey('k2', 8)] as const

/** Inserts a row whose other columns are filled as the schema requires. */
async function insertSealed(db: Db, { table, key, column }: SealedColumn, id: string, sealed: string): Promise<void> {
  const columns =
    db.engine === 'postgres'
      ? sql<{ name: string; type: string }>`select column_name::text as "name", data_type::text as "type"
          from information_schema.columns where table_schema = current_schema() and table_name = ${table}
            and is_nullable = 'NO'`
      : sql<{
          name: string
          type: string
        }>`select "name", lower("type") as "type" from pragma_table_info(${table}) where "notnull" = 1`
  const required = (await columns.execute(db.read)).rows
  const values = new Map<string, unknown>(
    required.map(({ name, type }) => [name, type === 'text' ? `${name} ${id}` : 1]),
  )
  values.set(key, id).set(column, sealed)
  const names = [...values.keys()].map((name) => sql.id(name))
  await db.transaction(async (tx) => {
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join([...values.values()])})
      on conflict do nothing`.execute(tx)
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealed} where ${sql.ref(key)} = ${id}`.execute(tx)
  })
}

async function sealedTexts(db: Db, { table, key, column, only }: SealedColumn): Promise<[string, string][]> {
  const { rows } = await sql<{
    id: string
    sealed: string
  }>`select ${sql.ref(key)} as "id", ${sql.ref(column)} as "sealed"
    from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db.read)
  return rows.filter(({ id }) => only === undefined || only.includes(id)).map(({ id, sealed }) => [id, sealed])
}

async function fill(db: Db, by: Sealer, count: number): Promise<void> {
  for (const column of sealedColumns) {
    const ids = column.only ?? Array.from({ length: count }, (_, index) => `${column.column}_${index}`)
    for (const id of ids)
      await insertSealed(db, column, id, by.seal(`${column.column} of ${id}`, column.sealContext(id)))
  }
}

async function requireAllUnder(db: Db, keyId: string, by: Sealer, least: number): Promise<void> {
  for (const column of sealedColumns) {
    const texts = await sealedTexts(db, column)
    expect(texts.length).toBeGreaterThanOrEqual(column.only?.length ?? least)
    for (const [id, sealed] of texts) {
      expect(sealed.split(':')[0]).toBe(keyId)
      expect(by.open(sealed, column.sealContext(id))).toBe(`${column.column} of ${id}`)
    }
  }
}

describeEachDatabase('sealing again', (open) => {
  async function started(db: Db, ring: RingKey[]) {
    const parts = closing(compose(db, { ring, instanceId: 'ins_a' }))
    const { encryption, ownership } = parts.features
    await ownership.start()
    return { encryption, ownership }
  }
  async function pass(encryption: Awaited<ReturnType<typeof started>>['encryption']) {
    const done = { resealed: 0, unreadable: [] as unknown[] }
    for (let after: string | null | undefined; after !== null; ) {
      const { next, resealed, unreadable } = await encryption.reseal(after)
      done.resealed += resealed
      done.unreadable.push(...unreadable)
      after = next
    }
    return done
  }

  it('reaches every sealed column, keeps a secret that changes meanwhile, and reports what it cannot open', async () => {
    const db = await open()
    const [old, both] = [sealer([K1]), sealer([K2, K1])]
    await fill(db, old, 30)
    const accounts = sealedColumns.find(({ table }) => table === 'accounts')
    if (accounts === undefined) throw new Error('accounts are not in the registry')
    const { encryption } = await started(db, [K2, K1])

    // As refreshes of tokens by an instance that still seals with the old key: none may be undone.
    const contextOf7 = accounts.sealContext('secrets_7')
    const current = async () => (await sealedTexts(db, accounts)).find(([id]) => id === 'secrets_7')?.[1] ?? ''
    let last = 'secrets of secrets_7'
    let isDone = false
    const writing = (async () => {
      for (let count = 0; count < WRITES; count += 1) {
        expect(both.open(await current(), contextOf7)).toBe(last)
        last = `token ${count}`
        const sealed = old.seal(last, contextOf7)
        await db.transaction((tx) =>
          tx.updateTable('accounts').set({ secrets: sealed }).where('id', '=', 'secrets_7').execute(),
        )
      }
    })().finally(() => {
      isDone = true
    })
    while (!isDone) await encryption.reseal(undefined)
    await writing
    expect((await pass(encryption)).resealed).toBeGreaterThan(29)
    expect(await pass(encryption)).toEqual({ resealed: 0, unreadable: [] })
    expect(both.open(await current(), contextOf7)).toBe(last)
    await insertSealed(db, accounts, 'secrets_7', both.seal('secrets of secrets_7', contextOf7))
    await requireAllUnder(db, 'k2', sealer([K2]), 30)

    await insertSealed(db, accounts, 'secrets_3', sealer([K0]).seal('x', accounts.sealContext('secrets_3')))
    expect(await pass(encryption)).toEqual({
      resealed: 0,
      unreadable: [{ table: 'accounts', id: 'secrets_3', keyId: 'k0' }],
    })
  })

  it('waits until every running instance seals with the key', async () => {
    const db = await open()
    const { encryption } = await started(db, [K2, K1])
    await db.transaction((tx) =>
      tx.insertInto('instances').values({ id: 'ins_b', heartbeatAt: db.dialect.nowMs, startedAt: 1 }).execute(),
    )
    const report = (keyIds: string) =>
      db.transaction((tx) =>
        tx
          .insertInto('instanceKeys')
          .values({ instanceId: 'ins_b', keyIds })
          .onConflict((conflict) => conflict.column('instanceId').doUpdateSet({ keyIds }))
          .execute(),
      )
    await expect(encryption.reseal(undefined)).rejects.toThrow('ins_b does not know it')
    await report('k1')
    await expect(encryption.reseal(undefined)).rejects.toThrow('ins_b does not know it')
    await report('k1,k2')
    await expect(encryption.reseal(undefined)).rejects.toThrow('ins_b seals with k1')
    await report('k2,k1')
    expect((await encryption.reseal(undefined)).next).toBe('connections.secrets:')
    await expect(encryption.add()).rejects.toThrow('The keys are set by ENCRYPTION_KEYS')
  })
})

describeOneDatabase('posthorn rotate-encryption --new-key', 'sqlite', (open) => {
  it('continues after the command and the service were killed, until nothing has the old key', async () => {
    const place = await open.place()
    const rotate = (url: string, key: string, ...options: string[]): ChildProcess => {
      const args = ['dist/posthorn.js', 'rotate-encryption', '--url', url, '--key', key, ...options]
      const child = spawn(process.execPath, args, {
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      closing({ close: async () => void child.kill('SIGKILL') })
      return child
    }
    const first = await startServiceProcess(place)
    const ring = async () => {
      const db = openDatabase(place)
      const stored = await db.read
        .selectFrom('serviceState')
        .select('value')
        .where('name', '=', 'encryptionKeys')
        .execute()
      await db.close()
      return stored[0]?.value ?? readFileSync(join(place.dataDir, 'encryption-keys'), 'utf8').trim()
    }
    const parseKeys = (text: string): RingKey[] =>
      text
        .split(',')
        .map((entry) => ({ id: entry.split(':')[0] ?? '', key: Buffer.from(entry.split(':')[1] ?? '', 'base64') }))
    const oldRing = parseKeys(await ring())
    const oldId = oldRing[0]?.id ?? ''
    await first.stop()
    const db = await open(place)
    const idempotency = sealedColumns.find(({ table }) => table === 'idempotencyKeys')
    if (idempotency === undefined) throw new Error('responses are not in the registry')
    const old = sealer(oldRing)
    for (let number = 0; number < 400; number += 1) {
      await insertSealed(
        db,
        idempotency,
        `r${number}`,
        old.seal(`response ${number}`, idempotency.sealContext(`r${number}`)),
      )
    }
    await db.transaction((tx) => tx.updateTable('idempotencyKeys').set({ expiresAt: 4_000_000_000_000 }).execute())

    const second = await startServiceProcess(place)
    closing({ close: () => second.kill() })
    const command = rotate(second.url, second.key, '--new-key')
    const oldCount = async () =>
      (await sealedTexts(db, idempotency)).filter(([, text]) => text.startsWith(`${oldId}:`)).length
    await eventually(async () => expect(await oldCount()).toBeLessThan(400), undefined, 1)
    command.kill('SIGKILL')
    await second.kill()

    const third = await startServiceProcess(place)
    closing({ close: () => third.kill() })
    const again = rotate(third.url, third.key)
    let output = ''
    again.stdout?.on('data', (chunk) => {
      output += chunk
    })
    expect((await once(again, 'close'))[0]).toBe(0)
    expect(output).toMatch(/All \d+ secrets have the key/)
    const newRing = parseKeys(await ring())
    expect(newRing.map(({ id }) => id).slice(1)).toEqual([oldId])
    const fresh = sealer(newRing.slice(0, 1))
    for (const column of sealedColumns) {
      for (const [id, sealed] of await sealedTexts(db, column)) fresh.open(sealed, column.sealContext(id))
    }
    expect((await sealedTexts(db, idempotency)).length).toBe(400)
    await third.stop()
  })
})

describe('the registry of sealed columns', () => {
  /** Files that seal, and what they seal. A new file that calls `seal` fails this test until its column is in the registry. */
  const SEALING: Record<string, string[]> = {
    'accounts/tokens/account-secrets.ts': ['accounts.secrets'],
    'accounts/tenants/secrets.ts': ['connections.secrets', 'connectionTokens.token'],
    'accounts/tokens/revocation.ts': ['accountErasures.revocation'],
    'accounts/auth/oauth/consents.ts': ['oauthFlows.facts'],
    // Travels in a form for minutes.
    'accounts/auth/imap/password-token.ts': [],
    'accounts/auth/shared-mailboxes/pending-sign-in.ts': [],
    'operations/encryption/reseal.ts': [],
    'operations/idempotency/stored-responses.ts': ['idempotencyKeys.answer'],
    'booking/experiences/service.ts': ['experiences.secrets'],
    'events/webhooks/endpoints/service.ts': ['webhookEndpoints.secrets', 'webhookEndpoints.headers'],
    'platform/secrets/secrets.ts': ['serviceState.value'],
  }

  it('has every column that some file seals', () => {
    const names = readdirSync('src', { recursive: true }).map((name) => String(name).replaceAll('\\', '/'))
    const sealing = names
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'platform/crypto/seal.ts')
      .filter((name) => /\.seal\(/.test(readFileSync(join('src', name), 'utf8')))
    expect(sealing.sort()).toEqual(Object.keys(SEALING).sort())
    const columns = sealedColumns.map(({ table, column }) => `${table}.${column}`)
    expect([...columns].sort()).toEqual(Object.values(SEALING).flat().sort())
  })
})
