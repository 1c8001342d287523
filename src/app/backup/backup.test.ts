import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Insertable } from 'kysely'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { databases, describeEachDatabase, type Place } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { random } from '../../../test/kit/random/random.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { loadConfig } from '../../config/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import { type Db, insertManyRows, type Tables } from '../../platform/db/index.ts'
import { backup } from './backup.ts'
import { checkArchive, restore } from './restore.ts'

const NOW = Date.UTC(2031, 4, 5)
const signal = new AbortController().signal
const quiet = { onRows: () => {}, onMigrated: () => {}, warn: () => {}, signal }
const RING = generateKeyRing('k1')

const isSoak = inject('isSoak')
const KILLS = isSoak ? 40 : 3

describeEachDatabase('backup and restore', (open, engine) => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-backup-'))
    file = join(folder, 'one.backup')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const buildEnvironment = ({ dataDir, databaseUrl }: Place, ring: string | undefined = RING) => ({
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: ring,
    SERVICE_API_KEY: 'k'.repeat(40),
  })
  const buildConfig = (place: Place, ring?: string) =>
    loadConfig({ environment: buildEnvironment(place, ring), folder: place.dataDir }).config
  const backUp = (place: Place, options: { withKeys?: boolean } = {}) =>
    backup(buildConfig(place), { file, withKeys: false, nowMs: NOW, ...quiet, ...options })
  const restoreTo = (place: Place, options: { isMoved?: boolean; overwrite?: boolean; ring?: string } = {}) =>
    restore(buildConfig(place, options.ring), {
      file,
      overwrite: true,
      isMoved: false,
      nowMs: NOW,
      ...quiet,
      ...options,
    })

  /** The built command as a process. */
  function posthorn(place: Place, ...args: string[]): ChildProcess {
    const environment = Object.entries(buildEnvironment(place)).filter(([, value]) => value !== undefined)
    const env = { PATH: process.env.PATH, ...Object.fromEntries(environment) }
    const child = spawn(process.execPath, ['dist/posthorn.js', ...args], {
      env,
      stdio: 'ignore',
    })
    closing({ close: async () => void child.kill('SIGKILL') })
    return child
  }
  const awaitExit = async (child: ChildProcess) =>
    child.exitCode === null ? (await once(child, 'exit'))[0] : child.exitCode

  async function readState(db: Db) {
    const states = await db.read.selectFrom('serviceState').selectAll().where('name', 'like', 'written.%').execute()
    const counts = new Map(states.map(({ name, value }) => [name.slice('written.'.length), Number(value)]))
    const hosts = (await db.read.selectFrom('bookingHosts').select('hostId').execute()).map(({ hostId }) => hostId)
    const claims = (await db.read.selectFrom('deduplicationClaims').select('key').execute()).map(({ key }) => key)
    return { counts, hosts: hosts.sort(), claims: claims.sort() }
  }

  it('while other processes write, contain every acknowledged row, and no half transaction, on both engines', async () => {
    const place = await open.place()
    const writers = engine === 'postgres' ? ['a', 'b', 'c'] : ['a']
    const acknowledged = new Map(writers.map((writer) => [writer, 0]))
    const writing = writers.map((writer) => {
      const child = startWorker('backup-writer-worker', [place.dataDir, place.databaseUrl ?? '', writer])
      closing({ close: async () => void child.kill('SIGKILL') })
      child.stdout.on('data', (chunk) => {
        acknowledged.set(writer, Number(String(chunk).trim().split('\n').at(-1)))
      })
      return child
    })
    await eventually(() => expect([...acknowledged.values()].every((count) => count > 20)).toBe(true))
    const before = new Map(acknowledged)
    expect(await awaitExit(posthorn(place, 'backup', '--to', file))).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // They went on meanwhile.
    await eventually(() => {
      for (const [writer, count] of acknowledged) expect(count).toBeGreaterThan(before.get(writer) ?? 0)
    })
    for (const child of writing) child.kill('SIGKILL')

    const others = engine === 'sqlite' && inject('postgresUrl') !== undefined ? [otherEngine] : []
    for (const places of [open, ...others]) {
      const restored = await places.place()
      expect(await awaitExit(posthorn(restored, 'restore', file, '--overwrite'))).toBe(0)
      const { counts, hosts, claims } = await readState(await places(restored))
      expect(claims).toEqual(hosts)
      const all = [...counts].flatMap(([writer, count]) =>
        Array.from({ length: count }, (_, i) => `${writer}-${i + 1}`),
      )
      expect(hosts).toEqual(all.sort())
      for (const [writer, count] of before) expect(counts.get(writer)).toBeGreaterThanOrEqual(count)
    }
  })
  const otherEngine = databases('postgres')

  /** Rows that have texts of all kinds, enough for several batches. */
  async function filled(place: Place, marker: string): Promise<void> {
    const db = await open(place)
    const text = `${marker} \u00e9\u4f1a\u8b70 "\\\n\r\t\u0001\u2028 {}[], \ud83d\ude00 `.repeat(20)
    await db.transaction(async (tx) => {
      await tx.insertInto('serviceState').values({ name: 'marker', value: marker }).execute()
      const rows = Array.from({ length: 3000 }, (_, index) => ({ name: `row ${index}`, value: text + index }))
      await insertManyRows(tx, 'serviceState', rows)
    })
    await db.close()
  }
  async function readMarker(place: Place) {
    const db = await open(place)
    const rows = await db.read
      .selectFrom('serviceState')
      .selectAll()
      .where('name', 'in', ['marker', 'row 2999'])
      .execute()
    await db.close()
    const [marker, last] = rows.sort((one, other) => one.name.localeCompare(other.name)).map(({ value }) => value)
    // Complete, whichever it is.
    expect(last?.startsWith(`${marker} \u00e9\u4f1a\u8b70 "\\\n\r\t\u0001\u2028 {}[], \ud83d\ude00 `)).toBe(true)
    return marker
  }

  it('that are killed leave nothing behind, or everything', async () => {
    const chance = random()
    const [source, target] = [await open.place(), await open.place()]
    await filled(source, 'new')
    await filled(target, 'old')
    const startedMs = performance.now()
    expect(await awaitExit(posthorn(source, 'backup', '--to', file))).toBe(0)
    const tookMs = performance.now() - startedMs
    const killed = async (place: Place, ...args: string[]) => {
      const child = posthorn(place, ...args)
      await sleep(tookMs * (0.3 + chance()))
      child.kill('SIGKILL')
      await awaitExit(child)
    }

    const second = join(folder, 'two.backup')
    for (let kill = 0; kill < KILLS; kill += 1) {
      await killed(source, 'backup', '--to', second)
      if (existsSync(second)) {
        await checkArchive(second, quiet)
        rmSync(second)
      }
    }
    expect(await awaitExit(posthorn(source, 'backup', '--to', second))).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['one.backup', 'two.backup'])

    for (let kill = 0; kill < KILLS; kill += 1) {
      await killed(target, 'restore', file, '--overwrite')
      if ((await readMarker(target)) === 'new') break
    }
    expect(await awaitExit(posthorn(target, 'restore', file, '--overwrite'))).toBe(0)
    expect(await readMarker(target)).toBe('new')
    expect(readdirSync(target.dataDir).filter((name) => name.includes('restoring'))).toEqual([])
  })

  it('make rows wait for nobody, and send nothing by themselves that may have been sent since', async () => {
    const [source, target] = [await open.place(), await open.place()]
    const db = await open(source)
    const seals = sealer(parseKeyRing(RING))
    await db.transaction(async (tx) => {
      await tx
        .insertInto('serviceState')
        .values([
          { name: 'keyCanary', value: seals.seal('posthorn', 'canary') },
          { name: 'search.index', value: '{}' },
        ])
        .execute()
      await tx.insertInto('instances').values({ id: 'ins_1', heartbeatAt: db.dialect.nowMs, startedAt: 1 }).execute()
      await tx.insertInto('accounts').values(ACCOUNT).execute()
      await tx.insertInto('eventSequences').values({ accountId: 'acc_1', sequence: 7 }).execute()
      await insertManyRows(tx, 'outbox', [
        { ...OUTBOX, id: 'queued', dueAt: NOW - 5 },
        { ...OUTBOX, id: 'held', status: 'sending', dueAt: NOW - 5, committedAt: 40, lease: 'l', leasedUntil: NOW },
        { ...OUTBOX, id: 'soon', status: 'scheduled', dueAt: NOW, sendAt: NOW },
        { ...OUTBOX, id: 'later', status: 'scheduled', dueAt: NOW + 1, sendAt: NOW + 1 },
        { ...OUTBOX, id: 'sent', status: 'sent', dueAt: null, committedAt: 40 },
        { ...OUTBOX, ...DEFERRED, id: 'sent-copying', remaining: 'copy' },
        { ...OUTBOX, ...DEFERRED, id: 'sent-deferred', remaining: 'recipients' },
      ])
      await insertManyRows(tx, 'bookingTasks', [
        { ...TASK, id: 'message', type: 'message', lease: 'l', leasedUntil: NOW, status: 'active' },
        { ...TASK, id: 'reminder', type: 'reminder', dueAt: NOW + 1 },
        { ...TASK, id: 'calendar', type: 'calendar', lease: 'l', leasedUntil: NOW, status: 'active' },
      ])
    })
    await backUp(source)
    const archived = gunzipSync(readFileSync(file)).toString()
    expect(archived).not.toContain('"instances"')
    expect(archived).not.toContain(RING.slice(3))

    await restoreTo(target)
    const restored = await open(target)
    const outbox = await restored.read.selectFrom('outbox').selectAll().orderBy('id').execute()
    expect(outbox.map(({ id, status, dueAt, committedAt, lease }) => [id, status, dueAt, committedAt, lease])).toEqual([
      ['held', 'uncertain', NOW, 40, null],
      ['later', 'scheduled', NOW + 1, null, null],
      ['queued', 'uncertain', NOW, 10, null],
      ['sent', 'sent', null, 40, null],
      ['sent-copying', 'sent', NOW, 40, null],
      ['sent-deferred', 'sent', NOW, 40, null],
      ['soon', 'uncertain', NOW, 10, null],
    ])
    // The deferred recipient may have the message: it is not sent again.
    const [copying, deferred] = outbox.filter(({ id }) => id.startsWith('sent-'))
    expect(JSON.parse(copying?.refused ?? '')).toMatchObject([{ email: 'late@example.com', code: null }])
    expect(deferred?.remaining).toBe('resending')
    const tasks = await restored.read.selectFrom('bookingTasks').selectAll().orderBy('id').execute()
    expect(tasks.map(({ id, status, lease }) => [id, status, lease])).toEqual([
      ['calendar', 'waiting', null],
      ['message', 'failed', null],
      ['reminder', 'waiting', null],
    ])
    const { ownerInstance, tokenLease, epoch } = await restored.read
      .selectFrom('accounts')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect({ ownerInstance, tokenLease, epoch }).toEqual({ ownerInstance: null, tokenLease: null, epoch: 3 })
    expect(await restored.read.selectFrom('instances').selectAll().execute()).toEqual([])
    const { sequence } = await restored.read.selectFrom('eventSequences').selectAll().executeTakeFirstOrThrow()
    expect(sequence).toBeGreaterThan(1_000_000)
    expect(
      await restored.read.selectFrom('serviceState').selectAll().where('name', '=', 'search.index').execute(),
    ).toEqual([])

    // A move: nothing happened since.
    await restored.close()
    await restoreTo(target, { isMoved: true })
    const moved = await open(target)
    const statuses = await moved.read.selectFrom('outbox').select(['id', 'status']).orderBy('id').execute()
    expect(statuses.map(({ status }) => status)).toEqual([
      'sending',
      'scheduled',
      'queued',
      'sent',
      'sent',
      'sent',
      'scheduled',
    ])
    expect(await moved.read.selectFrom('eventSequences').selectAll().execute()).toEqual([
      { accountId: 'acc_1', sequence: 7 },
    ])
  })

  it('refuse a running service, data that exists, missing keys, and files that are damaged, cut off or newer', async () => {
    const [source, target] = [await open.place(), await open.place()]
    await filled(source, 'new')
    await filled(target, 'old')
    const db = await open(source)
    await db.transaction((tx) =>
      tx
        .insertInto('serviceState')
        .values({ name: 'keyCanary', value: sealer(parseKeyRing(RING)).seal('posthorn', 'canary') })
        .execute(),
    )
    await backUp(source)
    await expect(backUp(source)).rejects.toThrow('exists already')
    const refused = async (message: string, options = {}) => {
      await expect(restoreTo(target, options)).rejects.toThrow(message)
      expect(await readMarker(target)).toBe('old')
    }
    await refused('Pass --overwrite', { overwrite: false })
    await refused('sealed with the key "k1", which is missing', { ring: generateKeyRing('k2') })
    await refused('which is missing', { ring: generateKeyRing('k1') })

    const good = readFileSync(file)
    const text = gunzipSync(good).toString()
    const changed = (from: string | RegExp, to: string) => gzipSync(text.replace(from, to))
    const cases: [Buffer, string][] = [
      [good.subarray(0, good.length - 200), 'is incomplete'],
      [gzipSync(text.slice(0, text.lastIndexOf('{"complete"'))), 'is incomplete'],
      [changed('"row 7"', '"row x"'), 'the checksum of the table serviceState is wrong'],
      [changed('"table":"outbox"', '"table":"outbux"'), 'is damaged'],
      [changed(/"migrations":\[/, '"migrations":["9999-later",'), 'newer Posthorn'],
      [changed(/"migrations":\[/, '"migrations":["0001-main-job",'), 'is from before the first release of Posthorn'],
      [changed('"posthornBackup":1', '"posthornBackup":2'), 'newer Posthorn'],
      [gzipSync('hello\n'), 'is not a Posthorn backup'],
      [Buffer.from('hello'), 'is not a Posthorn backup'],
      [Buffer.concat([good.subarray(0, 3000), Buffer.alloc(50, 7), good.subarray(3050)]), 'is damaged'],
    ]
    for (const [content, message] of cases) {
      writeFileSync(file, content)
      await refused(message)
    }

    writeFileSync(file, good)
    const running = await open(target)
    if (engine === 'postgres') {
      const instance = { id: 'ins_1', heartbeatAt: running.dialect.nowMs, startedAt: 1 }
      await running.transaction((tx) => tx.insertInto('instances').values(instance).execute())
      await refused('The service runs: instance ins_1')
    }
  })

  it('bring their keys when asked to', async () => {
    const [source, target] = [await open.place(), await open.place()]
    const db = await open(source)
    const canary = sealer(parseKeyRing(RING)).seal('posthorn', 'canary')
    await db.transaction((tx) => tx.insertInto('serviceState').values({ name: 'keyCanary', value: canary }).execute())
    await backUp(source, { withKeys: true })
    await restoreTo(target, { ring: generateKeyRing('k9') })
    const restored = await open(target)
    const ring =
      engine === 'sqlite'
        ? readFileSync(join(target.dataDir, 'encryption-keys'), 'utf8').trim()
        : (await restored.read.selectFrom('serviceState').selectAll().where('name', '=', 'encryptionKeys').execute())[0]
            ?.value
    expect(ring).toBe(RING)
  })
})

const ACCOUNT: Insertable<Tables['accounts']> = {
  id: 'acc_1',
  email: 'a@b.example',
  provider: 'imap',
  status: 'connected',
  statusReason: null,
  paused: 0,
  watch: 1,
  customUserId: null,
  providerUser: 'u',
  identity: 'i',
  settings: '{}',
  secrets: 's',
  tokens: '{}',
  trouble: null,
  tokenLease: 't',
  tokenLeaseUntil: 5,
  lastSyncAt: null,
  ownerInstance: 'ins_1',
  epoch: 3,
  createdAt: 1,
  updatedAt: 1,
}

const DEFERRED = {
  status: 'sent' as const,
  dueAt: NOW,
  committedAt: 40,
  refused: '[{"email":"late@example.com","code":451,"diagnostic":"451 Try again later"}]',
}

const OUTBOX: Omit<Insertable<Tables['outbox']>, 'id'> = {
  accountId: 'acc_1',
  status: 'queued',
  messageId: 'msg_1',
  rfcMessageId: '<1@x>',
  sentToken: 't',
  draftId: null,
  draftHash: null,
  subject: 's',
  envelope: '{}',
  repliesTo: null,
  sizeBytes: 3,
  refused: '[]',
  error: null,
  attempts: 0,
  remaining: null,
  checks: 0,
  sendAt: null,
  giveUpAt: 5,
  lease: null,
  leasedUntil: null,
  committedAt: null,
  providerMessageId: null,
  sentAt: null,
  createdAt: 10,
  updatedAt: 10,
}

const TASK: Omit<Insertable<Tables['bookingTasks']>, 'id' | 'type'> = {
  bookingId: 'bkg_1',
  subject: 's',
  status: 'waiting',
  attempts: 0,
  lastError: null,
  dueAt: NOW - 1,
  giveUpAt: 5,
  lease: null,
  leasedUntil: null,
  createdAt: 1,
  updatedAt: 1,
}
