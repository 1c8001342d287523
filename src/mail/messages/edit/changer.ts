import { type Accounts, toAppError } from '../../../accounts/index.ts'
import type { Recorder } from '../../../events/index.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError, notFound } from '../../../platform/errors/app-error.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type ChangedMessage,
  type MessageChange,
  ProviderError,
  type ProviderName,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import type { LiveAccessDeps, MessageRef } from '../read/live-access.ts'
import { type AcceptedChange, storeApiChanges, storeApiDeletions } from '../rows/api-changes.ts'
import { toIdentity } from '../rows/row.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { type ChangeOutcome, type MailboxEdits, openChanges } from './mailbox.ts'
import { buildChange, type MessageSet, onlyPaths, requireUsable } from './target.ts'

interface ChangerDeps extends LiveAccessDeps {
  db: Db
  accounts: LiveAccessDeps['accounts'] & Pick<Accounts, 'requestSync'>
  events: Recorder
  clock: Clock
}

/** A requested change, by label ids of ours or the provider's. */
interface RequestedSet {
  unread?: boolean | undefined
  starred?: boolean | undefined
  labelIds?: readonly string[] | undefined
  addLabelIds?: readonly string[] | undefined
  removeLabelIds?: readonly string[] | undefined
}

type ChangeResult = { id: string; error?: AppError }

/** Bounds one transaction, like the parts of a sync. */
const ROWS_PER_TRANSACTION = 200
/** How often a message that keeps changing is read again. After that, sync finds its state. */
const MAX_READS = 3

/**
 * Changes messages for API requests: at the provider first, then in the store, with the events. Everything may be repeated. Methods
 * take an account id or `customUserId` and throw `not_found` for an unknown account. `fields` is where label ids are in the request.
 */
export function messageChanger(deps: ChangerDeps) {
  const { db, accounts } = deps

  /** Returns one result per id, in order. Throws for what concerns every message. */
  async function changeMany(
    idOrAlias: string,
    ids: readonly string[],
    requested: RequestedSet,
    fields: string,
  ): Promise<ChangeResult[]> {
    const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
    const labels = await labelStore(db.read).all(accountId)
    const set = resolveSet(labels, requested, fields)
    const mailbox = await openChanges(deps, accountId, 'mail.change')
    const store = messageStore(db.read)
    const rows = new Map(
      (await store.byIds([...new Set(ids)])).filter((row) => isPresentIn(row, accountId)).map((row) => [row.id, row]),
    )
    const carried = await store.labelIds([...rows.keys()])
    const errors = new Map<string, AppError>()
    const planned = [...rows.values()].flatMap((row) => {
      try {
        const labelsBefore = labels.filter(({ id }) => (carried.get(row.id) ?? [row.folderId]).includes(id))
        const change = { message: toRef(row, labels), ...buildChange(set, labelsBefore, provider !== 'gmail') }
        return [{ before: row, change, only: provider === 'gmail' ? onlyPaths(set, labels) : undefined }]
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        errors.set(row.id, error)
        return []
      }
    })
    await run({ accountId, provider, labels, mailbox }, planned, errors)
    return ids.map((id) => {
      const error = rows.has(id) ? errors.get(id) : notFound('message', id)
      return { id, ...(error && { error }) }
    })
  }

  /**
   * Sends the changes and stores what the provider accepted. Adds the errors of single messages to `errors`. Leaves to a sync what is
   * not known for certain in the end.
   */
  async function run(target: Target, planned: readonly Planned[], errors: Map<string, AppError>): Promise<void> {
    let left = planned
    let needsSync = false
    for (let reads = 0; left.length > 0; reads += 1) {
      const results = await send(target.mailbox, left)
      const accepted: AcceptedChange[] = []
      left.forEach(({ before }, index) => {
        const result = results[index]
        if (result === undefined) return
        if (!(result instanceof Error)) accepted.push({ before, now: result })
        // The provider has accepted the change; only reading the message again failed.
        else if (reads > 0) needsSync = true
        else errors.set(before.id, result instanceof AppError ? result : toAppError(result, 'The message'))
      })
      needsSync ||= accepted.some(({ now }) => now.location === null)
      const conflicts = await store(target, accepted)
      if (reads === MAX_READS && conflicts.length > 0) needsSync = true
      left = reads === MAX_READS ? [] : await again(target, conflicts)
    }
    if (needsSync) await requestSync(target.accountId)
  }

  async function send(mailbox: MailboxEdits, planned: readonly Planned[]): Promise<ChangeOutcome[]> {
    const results = await mailbox.changeMessages(planned.map(({ change }) => change))
    const extra = planned.flatMap(({ change: { message }, only }, index) => {
      const result = results[index]
      if (only === undefined || result === undefined || result instanceof Error) return []
      const remove = result.folders.filter((path) => !only.has(path))
      return remove.length === 0 ? [] : [{ index, change: { message, remove } }]
    })
    if (extra.length === 0) return results
    const rest = await mailbox.changeMessages(extra.map(({ change }) => change))
    extra.forEach(({ index }, at) => {
      results[index] = rest[at]
    })
    return results
  }

  /** In small transactions. Returns the changes of which sync or another request may know a newer state. */
  async function store(target: Target, accepted: readonly AcceptedChange[]): Promise<AcceptedChange[]> {
    const conflicts: AcceptedChange[] = []
    for (let start = 0; start < accepted.length; start += ROWS_PER_TRANSACTION) {
      const some = accepted.slice(start, start + ROWS_PER_TRANSACTION)
      const found = await db.transaction(async (tx) => {
        await accounts.hold(tx, target.accountId)
        return storeApiChanges(tx, buildContext(target), some)
      })
      conflicts.push(...found)
    }
    return conflicts
  }

  /** A change of nothing, which reads the messages where the provider said they are. */
  async function again({ labels }: Target, conflicts: readonly AcceptedChange[]): Promise<Planned[]> {
    const rows = await messageStore(db.read).byIds(conflicts.map(({ before }) => before.id))
    const states = new Map(conflicts.map(({ before, now }) => [before.id, now]))
    return rows.flatMap((row) => {
      const now = states.get(row.id)
      return now === undefined ? [] : [{ before: row, change: { message: refAfter(row, now, labels) } }]
    })
  }

  function buildContext({ accountId, provider, labels }: Target) {
    return { dialect: db.dialect, events: deps.events, accountId, provider, labels, nowMs: deps.clock.now() }
  }

  async function requestSync(accountId: string): Promise<void> {
    await db.transaction((tx) => accounts.requestSync(tx, [accountId], 'everything'))
  }

  async function changeOne(idOrAlias: string, id: string, set: RequestedSet): Promise<void> {
    const [result] = await changeMany(idOrAlias, [id], set, 'body')
    if (result?.error !== undefined) throw result.error
  }

  async function findRow(idOrAlias: string, id: string) {
    const account = await accounts.resolve(db.read, idOrAlias)
    const row = await messageStore(db.read).find(account.id, id)
    if (row === undefined) throw notFound('message', id)
    return { accountId: account.id, provider: account.provider, row, labels: await labelStore(db.read).all(account.id) }
  }

  return {
    changeMany,
    /** Throws what the change of the message failed with. */
    changeOne,

    /** Moves a message to the trash; does nothing when it is there. Throws `not_supported` for a mailbox without one. */
    async trash(idOrAlias: string, id: string): Promise<void> {
      const { row, labels, provider } = await findRow(idOrAlias, id)
      const trash = labels.find(({ role, selectable }) => role === 'trash' && selectable === 1)
      if (trash === undefined) {
        const message = 'This mailbox has no trash folder. Delete the message for good with ?permanent=true.'
        throw new AppError('not_supported', { message })
      }
      if (row.folderId === trash.id) return
      const left = provider === 'gmail' ? labels.filter(({ role }) => role === 'inbox' || role === 'junk') : []
      const removeLabelIds = left.map((label) => label.id)
      await changeOne(idOrAlias, id, { addLabelIds: [trash.id], removeLabelIds })
    },

    /** Deletes a message for good. */
    async remove(idOrAlias: string, id: string): Promise<void> {
      const { accountId, provider, row, labels } = await findRow(idOrAlias, id)
      const mailbox = await openChanges(deps, accountId, 'mail.delete')
      const [result] = await mailbox.deleteMessages([toRef(row, labels)])
      if (result instanceof AppError) throw result
      if (result instanceof ProviderError) throw toAppError(result, 'The message')
      await db.transaction(async (tx) => {
        await accounts.hold(tx, accountId)
        await storeApiDeletions(tx, buildContext({ accountId, provider, labels, mailbox }), [row])
      })
    },
  }
}

export type MessageChanger = ReturnType<typeof messageChanger>

interface Target {
  accountId: string
  provider: ProviderName
  labels: readonly LabelRow[]
  mailbox: MailboxEdits
}

interface Planned {
  before: MessageRow
  change: MessageChange<MessageRef>
  /** The only paths that the message may have in the end. */
  only?: ReadonlySet<string> | undefined
}

function isPresentIn(row: MessageRow, accountId: string): boolean {
  return row.accountId === accountId && row.goneAt === null
}

function toRef(row: MessageRow, labels: readonly LabelRow[]): MessageRef {
  const { providerMessageId, uidValidity, uid, folderId } = row
  const folderPath = labels.find(({ id }) => id === folderId)?.providerId ?? null
  return { providerMessageId, uidValidity, uid, folderPath, identity: toIdentity(row) }
}

function refAfter(row: MessageRow, now: ChangedMessage, labels: readonly LabelRow[]): MessageRef {
  const [folderPath] = now.folders
  if (now.location == null || folderPath === undefined) return toRef(row, labels)
  return { ...now.location, folderPath, providerMessageId: row.providerMessageId, identity: toIdentity(row) }
}

function resolveSet(labels: readonly LabelRow[], requested: RequestedSet, fields: string): MessageSet {
  const { unread, starred } = requested
  const find = (name: 'labelIds' | 'addLabelIds' | 'removeLabelIds') =>
    requested[name]?.map((id, index) => {
      const ofProvider = id.toUpperCase() === 'INBOX' ? 'INBOX' : id
      const label = labels.find((label) => label.id === id) ?? labels.find((label) => label.providerId === ofProvider)
      return requireUsable(`${fields}.${name}.${index}`, id, label)
    })
  return { unread, starred, labelIds: find('labelIds'), add: find('addLabelIds'), remove: find('removeLabelIds') }
}
