import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases, describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced, mailEvents } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { type SyncServiceOptions, syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected, mail } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { type StrictImap, type StrictImapOptions, startStrictImap } from '../../../../test/servers/strict-imap.ts'
import type { Db } from '../../../platform/db/index.ts'

const open = databases('sqlite')
/** Pauses that end at once. */
const SOON = { baseMs: 20, capMs: 100 }
/** Pauses that do not end. */
const NEVER = { baseMs: 600_000, capMs: 600_000 }
/** The server's faults when it is asked for the message. */
const FAULTS = ['refuse', 'garbage', 'close'] as const
const OTHERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']

interface Options extends SyncServiceOptions {
  server?: StrictImapOptions
  before?(imap: StrictImap): void
}

async function linked(db: Db, imap: StrictImap, options: SyncServiceOptions) {
  const timing = { pollMs: 200, itemRetry: SOON, ...options.timing }
  const service = syncService(db, { settings: { folders: ['Work'] }, ...options, timing })
  closing({ close: () => service.stop() })
  const { host = '', port: imapsPort = 0 } = imap.server.access.settings.imap ?? {}
  const accountId = await service.link({ host, imapsPort }, 'ann', 'secret')
  return { service, accountId }
}

async function strictServer(options: StrictImapOptions = {}) {
  const imap = await startStrictImap({ folders: ['Work'], ...options })
  closing(imap.server)
  imap.folder('INBOX').add(mail('old'))
  return imap
}

/** An account of a strict server, in sync. */
async function strictAccount({ before, server, ...options }: Options = {}) {
  const imap = await strictServer(server)
  before?.(imap)
  const db = await open()
  const { service, accountId } = await linked(db, imap, options)
  await service.start()
  await connected(service, accountId)
  return { imap, ...imap, db, service, accountId, inbox: imap.folder('INBOX'), ...watched(db, accountId) }
}

function watched(db: Db, accountId: string) {
  return {
    async received(...ids: string[]): Promise<void> {
      const wanted = ids.map((id) => `<${id}@x>`).sort()
      await eventually(async () => expect(await announced(db, accountId)).toEqual(wanted))
    },
    /** Message events by the subject that the message has now: `message.received p 1`. */
    async emitted(): Promise<string[]> {
      const subjects = new Map((await stored(db, accountId)).map(({ id, subject }) => [id, subject]))
      const events = await mailEvents(db, accountId)
      return events
        .filter(({ type }) => type !== 'mailbox.changed')
        .map(({ type, objectId, version }) => `${type} ${subjects.get(objectId ?? '')} ${version}`)
    },
    items: (kind: 'message' | 'folder' = 'message') => items(db, accountId, kind),
    stored: () => stored(db, accountId),
  }
}

function items(db: Db, accountId: string, kind: 'message' | 'folder') {
  const rows = db.read.selectFrom('unreadableItems').selectAll().where('accountId', '=', accountId)
  return rows.where('kind', '=', kind).execute()
}

function stored(db: Db, accountId: string) {
  const rows = db.read.selectFrom('messages').selectAll().where('accountId', '=', accountId)
  return rows.orderBy('uid').execute()
}

it.each([...FAULTS, 'huge'] as const)(
  'a message that can never be read (%s) is stored without content after three failures, and once more when it can be read',
  async (how) => {
    const { inbox, spoil, service, accountId, emitted, items, stored } = await strictAccount()
    spoil('<p@x>', how)
    inbox.add(mail('p'), { flags: ['\\Seen', '\\Flagged'] })
    for (const id of OTHERS) inbox.add(mail(id))
    const isStored = ({ error }: { error: string | null }) => error !== null
    await eventually(async () => expect((await stored()).filter(isStored)).toHaveLength(1))
    await eventually(async () => expect(await receivedIn(emitted)).toHaveLength(OTHERS.length + 1))
    expect((await stored()).find(isStored)).toMatchObject({ subject: '', unread: 0, starred: 1 })
    expect(await items()).toMatchObject([{ failures: expect.any(Number), isStored: 1, newSince: null }])
    await connected(service, accountId)
    spoil('<p@x>', undefined)
    await eventually(async () => expect((await emitted()).filter((text) => text.includes(' p '))).toHaveLength(2))
    expect((await emitted()).filter((text) => text.includes(' p '))).toEqual([
      'message.received p 1',
      'message.updated p 2',
    ])
    await eventually(async () => expect(await items()).toEqual([]))
    expect((await stored()).filter(isStored)).toEqual([])
    inbox.add(mail('later'))
    await eventually(async () => expect(await emitted()).toContain('message.received later 1'))
    expect(await items('folder')).toEqual([])
  },
)

describe.each(FAULTS)('a message that can never be read (%s)', (how) => {
  it('is announced once, with its content, when it can be read before', async () => {
    const { inbox, spoil, service, accountId, received, items, db } = await strictAccount({
      timing: { itemRetry: NEVER },
    })
    spoil('<p@x>', how)
    inbox.add(mail('p'))
    inbox.add(mail('a'))
    await received('a')
    await eventually(async () => expect(await items()).toMatchObject([{ failures: 1, isStored: 0 }]))
    spoil('<p@x>', undefined)
    await db.transaction((tx) => tx.updateTable('unreadableItems').set({ nextAttemptAt: 0 }).execute())
    await service.synced(accountId)
    await received('a', 'p')
    await eventually(async () => expect(await items()).toEqual([]))
  })

  it('stops no first sync, and is not announced', async () => {
    const { stored, items, emitted, spoil } = await strictAccount({
      before: ({ folder, spoil }) => {
        for (const id of ['b', 'p', 'c']) folder('INBOX').add(mail(id))
        folder('Work').add(mail('w'))
        spoil('<p@x>', how)
      },
    })
    await eventually(async () => expect((await stored()).map(({ subject }) => subject).sort()).toContain(''))
    expect((await stored()).map(({ subject }) => subject).sort()).toEqual(['', 'b', 'c', 'old', 'w'])
    spoil('<p@x>', undefined)
    await eventually(async () => expect(await items()).toEqual([]))
    expect(await emitted()).toEqual(['message.updated p 2'])
  })
})

async function receivedIn(emitted: () => Promise<string[]>): Promise<string[]> {
  return (await emitted()).filter((text) => text.startsWith('message.received'))
}

it('a failing message that is deleted is forgotten', async () => {
  const { inbox, spoil, items, received } = await strictAccount({ timing: { itemRetry: NEVER } })
  spoil('<p@x>', 'refuse')
  inbox.add(mail('p'))
  inbox.add(mail('a'))
  await received('a')
  expect(await items()).toHaveLength(1)
  inbox.remove('<p@x>')
  await eventually(async () => expect(await items()).toEqual([]))
})

it.each([
  ['reports it', false],
  ['does not report it', true],
])(
  'a failing message is forgotten when it is deleted in the sync that found it, and the server %s',
  async (_, withoutQresync) => {
    const { imap, inbox, server, spoil, items, received } = await strictAccount({
      server: { withoutQresync },
      timing: { itemRetry: NEVER },
    })
    let isDeletedNext = false
    imap.beforeResponse = (line) => {
      if (line.startsWith('UID FETCH 2 ')) isDeletedNext = true
      // Sync reads the state of the folder once it has stored the new messages.
      if (!isDeletedNext || !line.startsWith('STATUS INBOX')) return
      imap.beforeResponse = () => {}
      inbox.remove('<p@x>')
    }
    spoil('<p@x>', 'refuse')
    server.disconnect()
    inbox.add(mail('p'))
    inbox.add(mail('a'))
    // One transaction stores this message and the failure of the other.
    await received('a')
    await eventually(() => expect(inbox.messages).toHaveLength(2))
    await eventually(async () => expect(await items()).toEqual([]))
  },
)

it('several messages that end the connection cost only themselves', async () => {
  const { inbox, spoil, items, received } = await strictAccount({ timing: { itemRetry: NEVER } })
  for (const id of ['p', 'q', 'r']) spoil(`<${id}@x>`, 'close')
  for (const id of ['p', ...OTHERS, 'q', 'r']) inbox.add(mail(id))
  await received(...OTHERS)
  await eventually(async () => expect(await items()).toHaveLength(3))
})

it('a copy that is read before a message that ends the connection is stored at once', async () => {
  const { folder, inbox, spoil, items, stored, received } = await strictAccount({ timing: { itemRetry: NEVER } })
  folder('Work').add(mail('w'))
  await received('w')
  spoil('<p@x>', 'close')
  // Fetched by itself. Sync asks the server whether the original is still in the other folder, and reads the copy again.
  inbox.add(mail('w'))
  inbox.add(mail('p'))
  inbox.add(mail('a'))
  await received('w', 'a')
  expect((await stored()).filter(({ subject }) => subject === 'w')).toHaveLength(2)
  expect(await items()).toHaveLength(1)
})

it('a server that returns no message at all is at fault itself', async () => {
  const { inbox, spoil, items, service, accountId, received } = await strictAccount()
  spoil('Subject', 'refuse')
  for (const id of OTHERS) inbox.add(mail(id))
  await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
  expect(await items()).toEqual([])
  spoil('Subject', undefined)
  await received(...OTHERS)
  await connected(service, accountId)
})

describe.each(['refuse', 'close'] as const)('a folder that can never be selected (%s)', (how) => {
  it('costs only itself', async () => {
    const { folder, inbox, spoilFolder, service, accountId, received, items } = await strictAccount()
    spoilFolder('Work', how)
    folder('Work').add(mail('w'))
    inbox.add(mail('a'))
    await received('a')
    await eventually(async () => expect((await items('folder'))[0]?.failures).toBeGreaterThan(2))
    inbox.add(mail('b'))
    await received('a', 'b')
    await connected(service, accountId)
    spoilFolder('Work', undefined)
    await received('a', 'b', 'w')
    await eventually(async () => expect(await items('folder')).toEqual([]))
  })

  it('stops no other one if it is the folder of the account, whose status says so', async () => {
    const { folder, inbox, server, spoilFolder, service, accountId, received, db } = await strictAccount()
    spoilFolder('INBOX', how)
    server.disconnect()
    inbox.add(mail('p'))
    folder('Work').add(mail('a'))
    await received('a')
    await eventually(async () =>
      expect(await service.accounts.get(accountId)).toMatchObject({
        status: 'error',
        statusReason: expect.stringContaining('INBOX'),
      }),
    )
    folder('Work').add(mail('b'))
    await received('a', 'b')
    spoilFolder('INBOX', undefined)
    await received('a', 'b', 'p')
    await connected(service, accountId)
    const events = await db.read.selectFrom('events').select('type').where('accountId', '=', accountId).execute()
    const types = events.map(({ type }) => type).filter((type) => /sync_stalled|recovered/.test(type))
    expect(types).toEqual(['account.sync_stalled', 'account.recovered'])
  })
})

describeOneDatabase('a process killed while it finds a message that ends the connection', 'sqlite', (open) => {
  it('leaves what it has found out to the next one', async () => {
    const imap = await strictServer()
    const place = await open.place()
    const db = await open(place)
    const { service: linking, accountId } = await linked(db, imap, {})
    await linking.stop()
    /** A process that lives until the condition holds. */
    const processUntil = async (condition: () => Promise<void>) => {
      const child = startWorker('sync-worker', [place.dataDir, place.databaseUrl ?? ''])
      await eventually(condition)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const rows = async () => [...(await items(db, accountId, 'folder')), ...(await items(db, accountId, 'message'))]
    await processUntil(async () => expect(await stored(db, accountId)).toHaveLength(1))
    imap.spoil('<p@x>', 'close')
    imap.folder('INBOX').add(mail('p'))
    for (const id of OTHERS) imap.folder('INBOX').add(mail(id))
    await processUntil(async () => expect(await rows()).not.toEqual([]))
    const found = (await rows())[0]
    await processUntil(async () => expect(await stored(db, accountId)).toHaveLength(1 + OTHERS.length))
    expect(found?.failures).toBeGreaterThan(0)
    expect(await items(db, accountId, 'message')).toMatchObject([{ failures: 1, isStored: 0 }])
    const { received } = watched(db, accountId)
    await received(...OTHERS)

    imap.spoil('<p@x>', undefined)
    await db.transaction((tx) => tx.updateTable('unreadableItems').set({ nextAttemptAt: 0 }).execute())
    await processUntil(async () => expect(await items(db, accountId, 'message')).toEqual([]))
    await received(...OTHERS, 'p')
  })
})
