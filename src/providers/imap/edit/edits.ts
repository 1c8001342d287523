import type { ImapFlow, MailboxObject } from 'imapflow'
import { groupBy } from '../../../platform/group-by.ts'
import {
  type ChangedMessage,
  failedEach,
  type MailEdits,
  type MessageChange,
  type MessageLocation,
  ProviderError,
} from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { RequestConnection } from '../connection/request-connection.ts'
import type { WorkLimits } from '../connection/work-limits.ts'
import { connectionLost, providerError } from '../errors.ts'
import { imapFolderEdits } from '../folders/folder-edits.ts'
import { canonicalFlags } from '../messages/flags.ts'
import { flagState } from '../messages/map.ts'
import { identityQuery, isSameMessage } from '../messages/same-message.ts'
import { listUids, uidSet } from '../messages/uids.ts'

type Change = MessageChange<MessageLocation>
type Result<Done> = Done | ProviderError

const CHANGING = 'changing messages'
const DELETING = 'deleting messages'

/** Changes over an account's request connection, one folder after the other. */
export function imapEdits(
  connection: () => RequestConnection,
  work: { deadlineMs: number; limits: WorkLimits },
  onOtherMessage: (folderPath: string) => void,
): MailEdits<MessageLocation> {
  /** Calls `change` with the items of each folder. When it fails, all items of the folder do. */
  async function perFolder<Item, Done>(
    items: readonly Item[],
    toLocation: (item: Item) => MessageLocation,
    doing: string,
    change: (
      client: ImapClient,
      items: readonly Item[],
      present: Present,
      box: MailboxObject,
    ) => Promise<Result<Done>[]>,
  ): Promise<Result<Done>[]> {
    const results = new Map<Item, Result<Done>>()
    for (const group of groupBy(
      items,
      (item) => `${toLocation(item).uidValidity} ${toLocation(item).folderPath}`,
    ).values()) {
      const [first] = group
      if (first === undefined) continue
      const { folderPath, uidValidity } = toLocation(first)
      const done = await connection()
        .useFolder(folderPath, {
          ...work,
          doing,
          isChange: true,
          async work(client, box) {
            if (String(box.uidValidity) !== uidValidity) throw renumbered(doing)
            if (box.readOnly) throw readOnlyFolder(doing)
            const present = await readMessages(client.imap, group.map(toLocation), onOtherMessage)
            return change(client, group, present, box)
          },
        })
        .catch((error: unknown) => failedEach(group, folderError(error, doing)))
      group.forEach((item, index) => void results.set(item, done[index] ?? notFound(doing)))
    }
    return items.map((item) => results.get(item) ?? notFound(doing))
  }

  return {
    ...imapFolderEdits(connection, work),

    changeMessages: (changes) => perFolder(changes, ({ message }) => message, CHANGING, changeInFolder),

    deleteMessages: (messages) =>
      perFolder(
        messages,
        (message) => message,
        DELETING,
        async (client, group, present) => {
          const uids = group.flatMap(({ uid }) => (present.has(uid) ? uid : []))
          if (uids.length > 0) await expunge(client, uids, DELETING)
          return group.map(({ uid }) => (present.has(uid) ? 'deleted' : notFound(DELETING)))
        },
      ),
  }
}

/** Sets `\Answered`, which mail programs show as an arrow. Throws `not_found` when the message is no longer there. */
export async function markAnswered(
  connection: () => RequestConnection,
  message: MessageLocation,
  task: { deadlineMs: number; limits: WorkLimits; signal: AbortSignal },
): Promise<void> {
  const { folderPath, uidValidity, uid } = message
  const doing = 'marking a message as answered'
  await connection().useFolder(folderPath, {
    ...task,
    doing,
    isChange: true,
    async work(client, box) {
      if (String(box.uidValidity) !== uidValidity) throw notFound(doing)
      if (box.readOnly) throw readOnlyFolder(doing)
      const flags = (await readMessages(client.imap, [message], () => {})).get(uid)
      if (flags === undefined) throw notFound(doing)
      if (flags.has('\\Answered')) return
      const isDone = await client.imap.messageFlagsAdd(String(uid), ['\\Answered'], { uid: true, silent: true })
      if (!isDone) throw refusedFlag(client, '\\Answered')
    },
  })
}

async function changeInFolder(
  client: ImapClient,
  changes: readonly Change[],
  flags: Present,
  { path, uidValidity }: MailboxObject,
): Promise<Result<ChangedMessage>[]> {
  const present = changes.filter(({ message }) => flags.has(message.uid))
  await setFlag(client, '\\Seen', present, flags, ({ unread }) => (unread === undefined ? undefined : !unread))
  await setFlag(client, '\\Flagged', present, flags, ({ starred }) => starred)
  const moved = new Map<number, ChangedMessage['location']>()
  const moving = present.filter(({ add = [] }) => add[0] !== undefined && add[0] !== path)
  for (const group of groupBy(moving, ({ add = [] }) => add[0] ?? '').values()) {
    const target = group[0]?.add?.[0] ?? ''
    for (const [uid, location] of await move(client, sorted(group.map(({ message }) => message.uid)), target)) {
      moved.set(uid, location)
    }
  }
  return changes.map(({ message: { uid }, add = [] }) => {
    const now = flags.get(uid)
    if (now === undefined) return notFound(CHANGING)
    const here = { uidValidity: String(uidValidity), uid }
    const location = moved.get(uid)
    return {
      ...flagState(now),
      folders: [location === undefined ? path : (add[0] ?? path)],
      location: location === undefined ? here : location,
    }
  })
}

/** The flags of the messages that the folder contains, by UID. */
type Present = Map<number, Set<string>>

/** Leaves out UIDs that belong to other messages than the stored ones. */
async function readMessages(
  imap: ImapFlow,
  messages: readonly MessageLocation[],
  onOtherMessage: (folderPath: string) => void,
): Promise<Present> {
  const found: Present = new Map()
  const wanted = new Map(messages.map((message) => [message.uid, message]))
  const range = uidSet(sorted([...wanted.keys()]))
  for await (const row of imap.fetch(range, { ...identityQuery, flags: true }, { uid: true })) {
    const message = wanted.get(row.uid)
    if (message === undefined || row.flags === undefined) continue
    const isSame = message.identity === undefined || isSameMessage(row, message.identity)
    if (isSame) found.set(row.uid, canonicalFlags(row.flags))
    else onOtherMessage(message.folderPath)
  }
  return found
}

/** Sets and removes one flag where it differs, and updates `flags`. */
async function setFlag(
  client: ImapClient,
  flag: string,
  changes: readonly Change[],
  flags: ReadonlyMap<number, Set<string>>,
  wanted: (change: Change) => boolean | undefined,
): Promise<void> {
  const { imap } = client
  for (const isSet of [true, false]) {
    const uids = changes
      .filter((change) => wanted(change) === isSet && flags.get(change.message.uid)?.has(flag) !== isSet)
      .map(({ message }) => message.uid)
    if (uids.length === 0) continue
    const range = uidSet(sorted(uids))
    const isDone = isSet
      ? await imap.messageFlagsAdd(range, [flag], { uid: true, silent: true })
      : await imap.messageFlagsRemove(range, [flag], { uid: true, silent: true })
    if (!isDone) throw refusedFlag(client, flag)
    for (const uid of uids) {
      if (isSet) flags.get(uid)?.add(flag)
      else flags.get(uid)?.delete(flag)
    }
  }
}

/** Returns the new location of each message, null where the server does not report it. */
async function move(
  client: ImapClient,
  uids: readonly number[],
  target: string,
): Promise<Map<number, ChangedMessage['location']>> {
  const { imap } = client
  const range = uidSet(uids)
  const canMove = imap.capabilities.has('MOVE')
  const moved = canMove
    ? await imap.messageMove(range, target, { uid: true })
    : await imap.messageCopy(range, target, { uid: true })
  if (!moved) throw refused(client, CHANGING, 'the server does not move messages to this folder')
  if (!canMove) await expunge(client, uids, CHANGING)
  const { uidMap, uidValidity } = moved
  const newLocation = (uid: number) => {
    const now = uidMap?.get(uid)
    return now === undefined || uidValidity === undefined ? null : { uidValidity: String(uidValidity), uid: now }
  }
  return new Map(uids.map((uid) => [uid, newLocation(uid)]))
}

/** Without UIDPLUS, EXPUNGE removes every message marked as deleted: the marks of others are taken off meanwhile. */
export async function expunge(client: ImapClient, uids: readonly number[], doing: string): Promise<void> {
  const { imap } = client
  const own = new Set(uids)
  const marked = imap.capabilities.has('UIDPLUS') ? [] : await imap.search({ deleted: true }, { uid: true })
  const others = uidSet((marked || []).filter((uid) => !own.has(uid)))
  if (others !== '') await imap.messageFlagsRemove(others, ['\\Deleted'], { uid: true, silent: true })
  const isDone = await imap.messageDelete(uidSet(sorted(uids)), { uid: true })
  const refusal = isDone ? undefined : refusedExpunge(client, doing)
  if (others !== '') await imap.messageFlagsAdd(others, ['\\Deleted'], { uid: true, silent: true })
  if (refusal !== undefined) throw refusal
  const left = await listUids(imap, { uid: uidSet(sorted(uids)) })
  if (left.length === 0) return
  const why = `${doing}: the server kept a deleted message`
  throw withheldFlag(client, '\\Deleted', doing) ?? new ProviderError('rejected', why, { refusal: 'not_permitted' })
}

/** Throws when messages cannot be deleted from the open folder, as far as its flags show. */
export function requireDeletion(client: ImapClient, doing: string): void {
  const box = client.imap.mailbox || undefined
  if (box?.readOnly) throw readOnlyFolder(doing)
  const problem = withheldFlag(client, '\\Deleted', doing)
  if (problem !== undefined) throw problem
}

/** imapflow returns false for a refused command and for a lost connection. `why` is said when the server names no other reason. */
function refused({ imap, lastRefusal }: ImapClient, doing: string, why: string): ProviderError {
  if (!imap.usable) return connectionLost(doing)
  const cause = lastRefusal()
  const failure = providerError(cause, doing)
  const isKnown = failure.refusal !== undefined || failure.kind === 'rate_limited' || failure.busy
  return isKnown ? failure : new ProviderError('rejected', `${doing}: ${why}`, { cause })
}

function refusedFlag(client: ImapClient, flag: string): ProviderError {
  return withheldFlag(client, flag, CHANGING) ?? refused(client, CHANGING, `the server does not set the flag ${flag}`)
}

function refusedExpunge(client: ImapClient, doing: string): ProviderError {
  const why = 'the server does not delete messages from this folder'
  return withheldFlag(client, '\\Deleted', doing) ?? refused(client, doing, why)
}

/** imapflow sends no command for a flag that PERMANENTFLAGS does not name. Cyrus opens a folder without such rights with `()`. */
function withheldFlag({ imap, lastRefusal }: ImapClient, flag: string, doing: string): ProviderError | undefined {
  const permanent = imap.mailbox ? imap.mailbox.permanentFlags : undefined
  if (!imap.usable || lastRefusal() !== undefined || permanent === undefined || permanent.has(flag)) return undefined
  if (permanent.size === 0) return readOnlyFolder(doing)
  const why = `${doing}: the server does not let this account change the flag ${flag}`
  return new ProviderError('rejected', why, { refusal: 'not_permitted' })
}

export function readOnlyFolder(doing: string): ProviderError {
  return new ProviderError('rejected', `${doing}: the folder is read-only`, { refusal: 'folder_read_only' })
}

/** A folder that is not found was deleted or renamed; its messages may still exist. */
function folderError(error: unknown, doing: string): ProviderError {
  const failure = providerError(error, doing)
  return failure.kind === 'not_found' ? new ProviderError('unavailable', failure.message, { cause: error }) : failure
}

function renumbered(doing: string): ProviderError {
  return new ProviderError('unavailable', `${doing}: the server renumbered the folder`)
}

function notFound(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it is no longer in this folder`)
}

function sorted(uids: readonly number[]): number[] {
  return [...uids].sort((left, right) => left - right)
}
