import {
  type Accounts,
  areLabelsCleared,
  describeNameProblem,
  type LiveMailboxDeps,
  numberApiChange,
  openMailbox,
  readLive,
  setLabelsCleared,
} from '../../../accounts/index.ts'
import type { Recorder } from '../../../events/index.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError, invalid, notFound } from '../../../platform/errors/app-error.ts'
import { cleanText } from '../../../platform/formats/text.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type FolderEdits,
  type FolderPosition,
  type FolderRef,
  ProviderError,
  type ProviderName,
  type RemoteFolder,
} from '../../../providers/contract/index.ts'
import { folderEvent } from '../events.ts'
import { planFolders } from '../plan.ts'
import { isAsListed, type LabelRow, labelStore, listedColumns, newLabelRow } from '../store.ts'
import { hexColor } from './color.ts'
import { below, joined, splitName } from './name-segments.ts'

interface LabelChangerDeps extends LiveMailboxDeps {
  db: Db
  accounts: LiveMailboxDeps['accounts'] & Pick<Accounts, 'resolve' | 'hold' | 'requestSync'>
  events: Recorder
  clock: Clock
  ids: Ids
}

interface NewLabel {
  /** The full name; missing parents are created. */
  name: string
  displayName: string
  color?: string | undefined
}

export interface LabelChange {
  name?: string | undefined
  displayName?: string | undefined
  color?: string | null | undefined
}

/** An account, its labels, and how to change them at the provider. */
interface Target {
  accountId: string
  provider: ProviderName
  rows: readonly LabelRow[]
  folders: FolderEdits
  delimiter: string
}

/**
 * Changes labels for API requests: at the provider first, then the rows, so that the next read shows them. A sync follows, which
 * stores what the change means for messages. Methods take an account id or `customUserId`; labels are named by our id or the provider's.
 */
export function labelChanger(deps: LabelChangerDeps) {
  const { db, accounts, clock } = deps

  async function open(idOrAlias: string): Promise<Target> {
    const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
    const rows = await labelStore(db.read).all(accountId)
    const { mail, access } = await openMailbox(deps, accountId, 'mail.change')
    const delimiter = provider === 'imap' ? (rows.find((row) => row.delimiter !== null)?.delimiter ?? '/') : '/'
    return { accountId, provider, rows, folders: mail.edits(access), delimiter }
  }

  async function openOwn(idOrAlias: string, labelId: string): Promise<Target & { label: LabelRow }> {
    const target = await open(idOrAlias)
    const label = target.rows.find(({ id }) => id === labelId) ?? target.rows.find((row) => row.providerId === labelId)
    if (label === undefined || label.selectable === 0) throw notFound('label', labelId)
    if (label.type === 'user') return { ...target, label }
    throw new AppError('not_supported', {
      message: `The provider manages "${label.name}". Only labels of type "user" can be changed or deleted.`,
    })
  }

  /** Creates the folders of the path that do not exist. Returns the deepest, and all that were created. */
  async function ensureFolders({ rows, folders, delimiter }: Target, segments: readonly string[]) {
    const created: RemoteFolder[] = []
    let parent: FolderRef | null = null
    for (const [index, name] of segments.entries()) {
      const fullName = joined(segments.slice(0, index + 1), delimiter)
      const stored = rows.find((row) => row.name === fullName)
      if (stored !== undefined) {
        parent = toRef(stored)
        continue
      }
      const position: FolderPosition = { name, parent }
      const folder: RemoteFolder = await readNamed(`The parent of "${fullName}"`, () => folders.createFolder(position))
      created.push(folder)
      parent = { path: folder.path, fullName }
    }
    return { parent, created }
  }

  /** Stores a change of folders. Every transaction that changes a label's row outside sync goes through here. */
  function store<T>(accountId: string, work: (tx: Tx, nowMs: number) => Promise<T>): Promise<T> {
    return db.transaction(async (tx) => {
      await accounts.hold(tx, accountId)
      await numberApiChange(tx, accountId, 'folder')
      const result = await work(tx, clock.now())
      await accounts.requestSync(tx, [accountId], 'everything')
      return result
    })
  }

  async function insert(tx: Tx, { accountId, provider }: Target, folders: readonly RemoteFolder[], nowMs: number) {
    // Sync chooses which folders of an IMAP mailbox it reads.
    const syncedAs = provider === 'imap' ? null : 'mailbox'
    const rows = folders.map((folder) => ({
      ...newLabelRow(folder, { id: deps.ids('lbl'), accountId, provider, nowMs }),
      syncedAs,
    }))
    await labelStore(tx).insert(rows)
  }

  async function refresh(accountId: string, provider: ProviderName): Promise<void> {
    const { mail, access } = await openMailbox(deps, accountId, 'mail.read')
    const folders = await readLive('The mailbox', () => mail.liveReads(access).listFolders())
    await store(accountId, async (tx, nowMs) => {
      const labels = labelStore(tx)
      const target = { accountId, provider, rows: [], folders: mail.edits(access), delimiter: '/' }
      const plan = planFolders(await labels.all(accountId), folders)
      for (const { label, folder } of plan.kept) {
        if (label.providerId !== folder.path || isAsListed(label, folder, provider)) continue
        await labels.update(label.id, { ...listedColumns(label, folder, provider), updatedAt: nowMs })
      }
      // A folder that appeared while another vanished may be renamed, which sync finds out.
      if (provider !== 'imap' || plan.vanished.length === 0) await insert(tx, target, plan.appeared, nowMs)
      if (provider !== 'imap') for (const label of plan.vanished) await labels.update(label.id, { selectable: 0 })
      await setLabelsCleared(tx, accountId, false)
    })
  }

  return {
    /** Throws `conflict` when the account has a label with this name. */
    async create(idOrAlias: string, { name, displayName, color }: NewLabel): Promise<LabelRow> {
      const target = await open(idOrAlias)
      const { accountId, rows, folders, delimiter } = target
      const segments = splitName('body.name', name, delimiter)
      if (rows.some((row) => row.name === name && row.selectable === 1)) throw taken(name)
      const last = segments.at(-1) ?? name
      const { parent, created } = await ensureFolders(target, segments.slice(0, -1))
      const providerColor = hexColor(color ?? '')
      const folder = await readNamed(`The label "${name}"`, () =>
        folders.createFolder({ name: last, parent }, providerColor),
      )
      return store(accountId, async (tx, nowMs) => {
        const labels = labelStore(tx)
        await insert(tx, target, [...created, folder], nowMs)
        const row = await getStored(tx, accountId, folder.path)
        const own = {
          displayName,
          color: color === undefined ? row.color : cleanText(color),
          selectable: 1,
          updatedAt: nowMs,
        }
        await labels.update(row.id, own)
        return { ...row, ...own }
      })
    },

    /** Throws `conflict` when another label has the name, and `not_supported` for a label that the provider manages. */
    async change(idOrAlias: string, labelId: string, change: LabelChange): Promise<LabelRow> {
      const target = await openOwn(idOrAlias, labelId)
      const { accountId, provider, rows, folders, label, delimiter } = target
      const name = change.name ?? label.name
      const isRenamed = name !== label.name
      const segments = isRenamed ? splitName('body.name', name, delimiter) : []
      const last = segments.at(-1) ?? name
      if (isRenamed && rows.some((row) => row.name === name && row.selectable === 1)) throw taken(name)
      if (isRenamed) below('body.name', name, label.name, delimiter)
      const { parent, created } = isRenamed
        ? await ensureFolders(target, segments.slice(0, -1))
        : { parent: null, created: [] }
      const what = `The label "${name}"`
      const path = isRenamed
        ? await readNamed(what, () => folders.moveFolder(toRef(label), { name: last, parent }))
        : label.providerId
      const color = typeof change.color === 'string' ? cleanText(change.color) : change.color
      const remoteColor = typeof color === 'string' ? hexColor(color) : color
      // A text that no provider understands changes nothing there.
      const providerColor =
        remoteColor === undefined
          ? label.providerColor
          : await readLive(what, () => folders.colorFolder(toRef(label), remoteColor))
      return store(accountId, async (tx, nowMs) => {
        const labels = labelStore(tx)
        await insert(tx, target, created, nowMs)
        const now = await labels.find(accountId, label.id)
        if (now === undefined) throw notFound('label', labelId)
        const followsName = now.displayName === now.providerName
        const own = {
          ...(isRenamed && { name, providerId: path, providerName: last }),
          displayName: change.displayName ?? (isRenamed && followsName ? last : now.displayName),
          ...(color !== undefined && { color, providerColor }),
          updatedAt: nowMs,
        }
        await labels.update(label.id, own)
        const renamed = isRenamed ? [{ ...now, ...own }] : []
        for (const child of isRenamed ? await labels.all(accountId) : []) {
          if (!child.name.startsWith(`${label.name}${delimiter}`)) continue
          const moved = { name: `${name}${child.name.slice(label.name.length)}`, updatedAt: nowMs }
          const ofImap = provider === 'imap' && {
            providerId: `${path}${child.providerId.slice(label.providerId.length)}`,
          }
          await labels.update(child.id, { ...moved, ...ofImap })
          renamed.push({ ...child, ...moved })
        }
        const none = { added: 0, updated: 0, deleted: 0 }
        for (const row of renamed) {
          const version = await labels.incrementVersion(row.id)
          await deps.events.record(tx, [folderEvent(row, version, provider, none)])
        }
        return { ...now, ...own }
      })
    },

    /** Hides the label at once; the sync that follows removes it from its messages, or deletes these with their folder. */
    async remove(idOrAlias: string, labelId: string): Promise<void> {
      const { accountId, folders, label } = await openOwn(idOrAlias, labelId)
      await readLive('The label', () => folders.deleteFolder(toRef(label)))
      await store(accountId, (tx, nowMs) => labelStore(tx).update(label.id, { selectable: 0, updatedAt: nowMs }))
    },

    /** Lists the labels at the provider and stores what changed. */
    async refresh(idOrAlias: string): Promise<void> {
      const { id, provider } = await accounts.resolve(db.read, idOrAlias)
      await refresh(id, provider)
    },

    /** Makes the next `ensureListed` list the labels at the provider. Ids, and what the API set, stay. */
    async clear(idOrAlias: string): Promise<void> {
      const { id } = await accounts.resolve(db.read, idOrAlias)
      await db.transaction(async (tx) => {
        await accounts.hold(tx, id)
        await setLabelsCleared(tx, id, true)
      })
    },

    async ensureListed(accountId: string, provider: ProviderName): Promise<void> {
      if (await areLabelsCleared(db.read, accountId)) await refresh(accountId, provider)
    },
  }
}

export type LabelChanger = ReturnType<typeof labelChanger>

/** Runs a change as `readLive` does. A name that the provider refuses is a fault of the request. */
async function readNamed<T>(what: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof ProviderError && error.refusal === 'invalid_name')
      throw invalid('body.name', describeNameProblem(error))
    return readLive(what, () => Promise.reject(error))
  }
}

function toRef({ providerId, name }: LabelRow): FolderRef {
  return { path: providerId, fullName: name }
}

async function getStored(tx: Tx, accountId: string, providerId: string): Promise<LabelRow> {
  const row = (await labelStore(tx).all(accountId)).find((label) => label.providerId === providerId)
  if (row === undefined) throw new AppError('internal', { cause: new Error(`label ${providerId} was not stored`) })
  return row
}

function taken(name: string): AppError {
  return new AppError('conflict', { message: `This account has a label "${name.slice(0, 200)}".` })
}
