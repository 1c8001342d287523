import { expect } from 'vitest'
import type { Databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { announced, mailEvents, messageState, storedMessages } from '../kit/mailbox/mailbox-state.ts'
import { syncService } from '../kit/mailbox/sync.ts'
import { connected, mail } from '../kit/mailbox/synced-mailbox.ts'
import { messageApi } from '../kit/messages/message-api.ts'
import { openSyncClient, type SyncClient, type SyncClientName } from '../servers/clients/index.ts'
import { otherClient } from '../servers/imap-mailbox.ts'
import { folderPath, type ImapServer } from '../servers/imap-server.ts'
import { describeMessages, openTimeline, type Timeline } from './second-client-report.ts'

const USER = 'ada'
const PASSWORD = 'secret'
/** As of a service with the default timing. The client runs within this time. */
const MOVE_GRACE_MS = 10_000
const WHO = ['client', 'server', 'api'] as const
const WHAT = ['flag', 'flag', 'move', 'move', 'remove'] as const

/** A message as the scenario left it. */
interface Expected {
  messageId: string
  folder: string
  read: boolean
  starred: boolean
}

interface Change {
  what: 'flag' | 'move' | 'remove'
  /** The state before the change. */
  message: Expected
  after: Expected
}

type Who = (typeof WHO)[number]

interface Scenario {
  server: ImapServer
  client: SyncClient
  service: ReturnType<typeof syncService>
  api: Awaited<ReturnType<typeof messageApi>>
  accountId: string
  db: Awaited<ReturnType<Databases>>
  folders: string[]
  random: () => number
  messages: Expected[]
  /** Message-IDs, each of which was delivered while the account was in sync. */
  delivered: string[]
  /** Message-IDs of deleted messages. */
  removed: string[]
  /** Ids of stored messages by Message-ID, as first seen. */
  ids: Map<string, string>
  timeline: Timeline
}

export interface SecondClientRun {
  server: ImapServer
  client: SyncClientName
  open: Databases
  endsAt: number
  random: () => number
}

/**
 * Changes one mailbox through the service, through another client and on the server, in rounds. After each round all sides must
 * be equal, and each event must have been emitted once. Returns counts.
 */
export async function runSecondClient(run: SecondClientRun): Promise<{ rounds: number; changes: number }> {
  const { server, random, endsAt } = run
  await server.addUser(USER, PASSWORD)
  const folders = ['INBOX', folderPath(server, 'Work'), folderPath(server, 'More')]
  await otherClient(server, USER, PASSWORD, async (client) => {
    for (const path of folders.slice(1)) await client.mailboxCreate(path)
  })
  const messages: Expected[] = []
  for (const id of ['old-1', 'old-2', 'old-3']) messages.push(await deliver(server, id))
  const timeline = openTimeline()
  const onLine = (line: string) => timeline.note(run.client, line)
  const client = await openSyncClient(run.client, { server, user: USER, password: PASSWORD, folders, onLine })
  const db = await run.open()
  const service = syncService(db, {
    settings: { folders: folders.slice(1) },
    timing: { pollMs: 500, folderMoveGraceMs: MOVE_GRACE_MS },
    log: timeline.log,
  })
  try {
    const accountId = await service.link(server, USER, PASSWORD)
    await service.start()
    await connected(service, accountId)
    const api = await messageApi({ db, service, accountId })
    const scenario: Scenario = {
      server,
      client,
      service,
      api,
      accountId,
      db,
      folders,
      random,
      messages,
      delivered: [],
      removed: [],
      ids: new Map(),
      timeline,
    }
    await inSync(scenario)
    const counts = { rounds: 0, changes: 0 }
    while (performance.now() < endsAt) {
      counts.changes += await round(scenario)
      counts.rounds += 1
    }
    await eventually(async () => {
      expect(await announced(db, accountId, 'message.deleted')).toEqual([...scenario.removed].sort())
    })
    await inSync(scenario)
    return counts
  } finally {
    await service.stop()
    await client.stop()
  }
}

async function deliver(server: ImapServer, id: string): Promise<Expected> {
  await server.deliver(USER, mail(id))
  return { messageId: `<${id}@x>`, folder: 'INBOX', read: false, starred: false }
}

/** Every message is changed by one side at most, so that the outcome is certain. The sides work at the same time. */
async function round(scenario: Scenario): Promise<number> {
  const { random, folders, messages, server, delivered, removed, client, timeline } = scenario
  timeline.begin()
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const changes: Record<Who, Change[]> = { client: [], server: [], api: [] }
  const chosen = [...messages].sort(() => random() - 0.5).slice(0, Math.floor(random() * 5))
  for (const message of chosen) {
    const what = pick(WHAT)
    const after = { ...message }
    if (what === 'flag') Object.assign(after, random() < 0.5 ? { read: !message.read } : { starred: !message.starred })
    if (what === 'move') after.folder = pick(folders.filter((folder) => folder !== message.folder))
    const isSeenLate = what === 'flag' && !server.hasModSequences && message.folder !== 'INBOX'
    changes[isSeenLate ? 'api' : pick(WHO)].push({ what, message, after })
  }
  const arrivals = Array.from({ length: Math.floor(random() * 3) }, (_, n) => `new-${delivered.length + n}`)
  for (const who of WHO) {
    for (const { what, message, after } of changes[who]) {
      timeline.note('scenario', `${who}: ${what} ${describeState(message)} -> ${describeState(after)}`)
    }
  }
  timeline.note('scenario', `arrivals: ${arrivals.join(' ')}`)
  await changeLocally(client, changes.client)
  const [arrived] = await Promise.all([
    Promise.all(arrivals.map((id) => deliver(server, id))),
    changeOnServer(server, changes.server),
    changeOverApi(scenario, changes.api),
    client.sync(),
  ])
  delivered.push(...arrived.map(({ messageId }) => messageId))
  for (const { what, message, after } of Object.values(changes).flat()) {
    messages.splice(messages.indexOf(message), 1, ...(what === 'remove' ? [] : [after]))
    if (what === 'remove') removed.push(message.messageId)
  }
  messages.push(...arrived)
  await inSync(scenario)
  return chosen.length + arrivals.length
}

async function changeLocally(client: SyncClient, changes: readonly Change[]): Promise<void> {
  const local = await client.list()
  for (const { what, message, after } of changes) {
    const found = local.find(({ messageId }) => messageId === message.messageId)
    if (found === undefined) throw new Error(`the client does not have ${message.messageId}`)
    if (what === 'flag') await client.setFlags(found, after)
    else if (what === 'move') await client.move(found, after.folder)
    else await client.remove(found)
  }
}

async function changeOnServer(server: ImapServer, changes: readonly Change[]): Promise<void> {
  await otherClient(server, USER, PASSWORD, async (imap) => {
    for (const { what, message, after } of changes) {
      await imap.mailboxOpen(message.folder)
      const found = (await imap.search({ header: { 'message-id': message.messageId } }, { uid: true })) || []
      const uid = String(found[0] ?? '')
      if (what === 'move') await imap.messageMove(uid, after.folder, { uid: true })
      else if (what === 'remove') await imap.messageDelete(uid, { uid: true })
      else {
        await imap[after.read ? 'messageFlagsAdd' : 'messageFlagsRemove'](uid, ['\\Seen'], { uid: true })
        await imap[after.starred ? 'messageFlagsAdd' : 'messageFlagsRemove'](uid, ['\\Flagged'], { uid: true })
      }
    }
  })
}

async function changeOverApi({ api, ids }: Scenario, changes: readonly Change[]): Promise<void> {
  for (const { what, message, after } of changes) {
    const id = ids.get(message.messageId) ?? ''
    const { status, json } =
      what === 'remove'
        ? await api.remove(id, '?permanent=true')
        : await api.patch(id, what === 'move' ? { labelIds: [await api.label(after.folder)] } : toFlags(after))
    if (status !== 200) throw new Error(`${what} of ${message.messageId}: ${status} ${JSON.stringify(json)}`)
  }
}

function toFlags({ read, starred }: Expected) {
  return { unread: !read, starred }
}

/** Waits until all sides have what the scenario expects, and checks the events. */
async function inSync(scenario: Scenario): Promise<void> {
  const { server, client, service, db, accountId, folders, messages, timeline } = scenario
  const wanted = messages.map(describeState).sort()
  try {
    await eventually(async () => {
      await client.sync()
      await service.synced(accountId)
      const [onServer, stored, local] = await Promise.all([
        serverMessages(server, folders),
        storedMessages(db, accountId),
        client.list(),
      ])
      expect(onServer.map(withoutUid).sort(), 'on the server').toEqual(wanted)
      expect(stored, 'stored').toEqual(onServer)
      expect(local.map(describeState).sort(), 'at the other client').toEqual(wanted)
    }, 60_000)
    await expectEvents(scenario)
  } catch (error) {
    const messageIds = await findSuspects(scenario, String(error))
    const about = await describeMessages({ server, db, accountId, folders, user: USER, password: PASSWORD, messageIds })
    console.log(`${about}\n${timeline.print()}`)
    throw error
  }
}

/** The Message-IDs of which the wrong number of events was emitted, or that the error mentions. */
async function findSuspects({ db, accountId, delivered, removed, ids }: Scenario, error: string): Promise<string[]> {
  const received = await announced(db, accountId)
  const deleted = await announced(db, accountId, 'message.deleted')
  const count = (list: readonly string[], messageId: string) => list.filter((id) => id === messageId).length
  const isWrong = (messageId: string) =>
    count(received, messageId) !== count(delivered, messageId) ||
    count(deleted, messageId) > count(removed, messageId) ||
    error.split('\n', 1)[0]?.includes(messageId)
  return [...new Set([...received, ...deleted, ...delivered, ...ids.keys()])].filter(isWrong)
}

async function expectEvents({ db, accountId, delivered, removed, messages, ids }: Scenario): Promise<void> {
  expect(await announced(db, accountId)).toEqual([...delivered].sort())
  // Deletions are announced later, in case the message appears in another folder.
  const deleted = await announced(db, accountId, 'message.deleted')
  expect(deleted.filter((messageId) => !removed.includes(messageId))).toEqual([])
  expect(deleted).toEqual([...new Set(deleted)])
  const last = new Map<string, string>()
  for (const { type, data, objectId } of await mailEvents(db, accountId)) {
    if (!type.startsWith('message.')) continue
    const state = type === 'message.deleted' ? 'deleted' : `${data.folder} ${data.unread} ${data.starred}`
    expect(last.get(String(objectId)), `${type} of ${data.messageId} changes nothing`).not.toBe(state)
    expect(last.get(String(objectId)), `${type} after the deletion of ${data.messageId}`).not.toBe('deleted')
    last.set(String(objectId), state)
  }
  const rows = await db.read
    .selectFrom('messages')
    .select(['id', 'fields'])
    .where('accountId', '=', accountId)
    .execute()
  for (const { id, fields } of rows) {
    const messageId = String(JSON.parse(fields).messageId)
    const first = ids.get(messageId) ?? id
    ids.set(messageId, first)
    expect(id, `the id of ${messageId} changed`).toBe(first)
  }
  for (const { messageId, folder, read, starred } of messages) {
    const state = last.get(ids.get(messageId) ?? '')
    if (state !== undefined) expect(state, `the last event of ${messageId}`).toBe(`${folder} ${!read} ${starred}`)
  }
}

async function serverMessages(server: ImapServer, folders: readonly string[]): Promise<string[]> {
  const found: string[] = []
  await otherClient(server, USER, PASSWORD, async (imap) => {
    for (const folder of folders) {
      const { exists } = await imap.mailboxOpen(folder, { readOnly: true })
      const rows = exists === 0 ? [] : await imap.fetchAll('1:*', { uid: true, flags: true, envelope: true })
      for (const { uid, flags, envelope } of rows) {
        const isUnread = flags?.has('\\Seen') !== true
        found.push(messageState(folder, envelope?.messageId ?? null, isUnread, flags?.has('\\Flagged') === true, uid))
      }
    }
  })
  return found.sort()
}

function describeState({ folder, messageId, read, starred }: Expected): string {
  return withoutUid(messageState(folder, messageId, !read, starred, 0))
}

function withoutUid(state: string): string {
  return state.replace(/ \d+ /, ' ')
}
