import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase, describePostgres, emptyPlace, type Place } from '../kit/database/database.ts'
import { startServiceProcess } from '../kit/service/process.ts'
import { expectEachAnnouncedOnce } from '../scenarios/announcements.ts'
import { startApplication } from '../scenarios/application.ts'
import { type Client, client } from '../scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from '../scenarios/mailboxes.ts'
import { runStopsUnderLoad } from '../scenarios/stops-under-load.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { hasRedis, startRedis } from '../servers/redis.ts'

const run = promisify(execFile)
const BUILD_MS = 1_800_000
const TEST_MS = 900_000
const MESSAGES = 40

/** The version to upgrade from: `UPGRADE_FROM`, such as a tag or a commit, or the last tag. */
const older = process.env.UPGRADE_FROM ?? (await findLastTag())

if (older === undefined) {
  // There is nothing to upgrade from, and a database that no released version has filled would prove nothing.
  describeUpgrade('a second start of this version, because no version has a tag yet', async () => process.cwd())
} else {
  let folder: string
  beforeAll(async () => {
    folder = await builtVersion(older)
  }, BUILD_MS)
  afterAll(() => rm(folder, { recursive: true, force: true }))
  describeUpgrade(`an upgrade from ${older}`, async () => folder)
  describeSideBySide(`replicas of ${older} and of this version`, () => folder)
}

function describeUpgrade(title: string, older: () => Promise<string>): void {
  describe.skipIf(!dovecotAvailable())('on a real mail server', () => {
    describeEachDatabase(title, (databases) => {
      it('keeps every row that the API shows, and announces each message once', { timeout: TEST_MS }, async () => {
        const dovecot = await startDovecot()
        try {
          await upgrade(await emptyPlace(databases), await older(), dovecot)
        } finally {
          await dovecot.stop()
        }
      })
    })
  })
}

/** The version of each start: an upgrade in which an instance of the older version restarts, then the way back, and the upgrade again. */
const ROLLING = ['older', 'older', 'newer', 'older', 'newer', 'newer', 'older', 'newer', 'newer'] as const

function describeSideBySide(title: string, olderFolder: () => string): void {
  describe.skipIf(!hasRedis || !dovecotAvailable())(title, () => {
    describePostgres('side by side on PostgreSQL and Redis', (databases) => {
      it('lose and repeat nothing under load, while they replace each other', { timeout: 3_600_000 }, async () => {
        const redis = await startRedis()
        try {
          const { databaseUrl = '', dataDir } = await emptyPlace(databases)
          const counts = await runStopsUnderLoad(
            { databaseUrl, dataDir, redisUrl: redis.url },
            {
              stops: ROLLING.length - 2,
              mailboxes: 20,
              paceMs: 50,
              folderOf: (start) => (ROLLING[start] === 'older' ? olderFolder() : undefined),
            },
          )
          console.log(`${title}: ${JSON.stringify(counts)}`)
        } finally {
          await redis.close()
        }
      })
    })
  })
}

/** Fills a database with the version in `folder`, then opens it with this one. Messages arrive before, between and after. */
async function upgrade(place: Place, folder: string, dovecot: Dovecot): Promise<void> {
  const application = await startApplication()
  const users = userNames(4)
  const subjects = Array.from({ length: MESSAGES }, (_, index) => `upgrade-${index}`)
  const deliver = async (from: number, to: number) => {
    for (const [index, subject] of subjects.slice(from, to).entries())
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
  }
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  let service = await startServiceProcess({ ...place, folder })
  try {
    const api = client(service.url, service.key)
    await subscribe(api, application, ['message.received'])
    const accounts = [...(await connectMailboxes(api, dovecot, users)).values()]
    await deliver(0, 20)
    await expectEachAnnouncedOnce(application, subjects.slice(0, 20), 120_000)
    const before = await shownBy(api, accounts)
    await service.stop()

    await deliver(20, 30)
    service = await startServiceProcess({ ...place, port: service.port, env: { LOG_LEVEL: 'info' } })
    if (older === undefined) expect(service.output()).not.toContain('Migrated the database')
    await deliver(30, MESSAGES)
    await expectEachAnnouncedOnce(application, subjects, 120_000)
    const after = await shownBy(api, accounts)
    for (const [path, rows] of before) expect([path, after.get(path)]).toEqual([path, expect.arrayContaining(rows)])
  } finally {
    await service.stop()
    await application.close()
  }
}

/** Reads the identifying values of each list's rows, by the list's path. */
async function shownBy(api: Client, accounts: readonly string[]): Promise<Map<string, unknown[]>> {
  const shown = new Map<string, unknown[]>()
  const lists = ['labels?includeSystem=true&', 'messages?', 'threads?']
  const paths = [
    ...['/webhooks/endpoints?', '/events?', '/webhooks/deliveries?'],
    ...accounts.flatMap((account) => lists.map((list) => `/accounts/${account}/${list}`)),
  ]
  for (const path of paths) shown.set(path, await readRows(api, `${path}limit=200`))
  return shown
}

async function readRows(api: Client, path: string): Promise<unknown[]> {
  const page = await api.call<Record<string, unknown>>('GET', path)
  const rows = Object.values(page).find((value) => Array.isArray(value)) as { id: string; subject?: string }[]
  // An empty list would prove nothing.
  expect(rows, path).not.toEqual([])
  return rows.map(({ id, subject }) => ({ id, subject }))
}

/** The tag of the newest released version before this one. */
async function findLastTag(): Promise<string | undefined> {
  const released = ['tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-version:refname']
  const { stdout } = await run('git', released)
  return stdout.split('\n').find((name) => name !== '')
}

/** Builds a version, with the packages of its lockfile, in a clone of its own. */
async function builtVersion(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-version-'))
  const { stdout: commit } = await run('git', ['rev-parse', `${version}^{commit}`])
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', process.cwd(), folder])
  await run('git', ['checkout', '--quiet', '--detach', commit.trim()], { cwd: folder })
  await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })
  await run('npm', ['run', 'build'], { cwd: folder, maxBuffer: 2 ** 26 })
  return folder
}
