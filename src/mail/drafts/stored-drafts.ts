import { type Account, type Accounts, openMailbox, readLive } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError, notFound } from '../../platform/errors/app-error.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { DraftBody, DraftRef, MailDrafts } from '../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../labels/index.ts'
import {
  bodyStore,
  liveContents,
  type MessageRow,
  messageStore,
  parseFields,
  providerDraftIds,
  putBody,
  storeApiDeletions,
  storeDraft,
  toDraftId,
  toIdentity,
  toMessageId,
} from '../messages/index.ts'
import { type Draft, draftView } from './api.ts'

type DraftContext = Parameters<typeof storeDraft>[1]
type LiveAccessDeps = Parameters<typeof liveContents>[0]

export interface StoredDraftsDeps extends LiveAccessDeps {
  db: Db
  accounts: LiveAccessDeps['accounts'] & Pick<Accounts, 'requestSync'>
  events: Recorder
  clock: Clock
}

/** A stored draft, with what a change of it needs. */
export interface StoredDraft {
  row: MessageRow
  account: Account
  labels: LabelRow[]
  folder: LabelRow
}

/** How often a draft is read. Another program that saves it again and again would otherwise keep a request busy. */
export const MAX_READS = 3

export function beingChanged(): AppError {
  const message = 'Another program is changing this draft. Try again shortly.'
  return new AppError('not_ready', { message, headers: { 'retry-after': '5' } })
}

export type StoredDrafts = ReturnType<typeof storedDrafts>

/** Finds stored drafts, reads their current version at the provider, and deletes them. */
export function storedDrafts(deps: StoredDraftsDeps) {
  const { db, accounts, clock } = deps

  /** Throws `not_found`. */
  async function find(draftId: string): Promise<StoredDraft> {
    const messageId = toMessageId(draftId)
    const [row] = messageId === undefined ? [] : await messageStore(db.read).byIds([messageId])
    if (row === undefined || row.goneAt !== null) throw notFound('draft', draftId)
    const labels = await labelStore(db.read).all(row.accountId)
    const folder = labels.find(({ id }) => id === row.folderId)
    if (folder?.role !== 'drafts') throw notFound('draft', draftId)
    return { row, account: await accounts.get(row.accountId), labels, folder }
  }

  async function open({ account, folder }: Pick<StoredDraft, 'account' | 'folder'>): Promise<MailDrafts> {
    const { mail, access } = await openMailbox(deps, account.id, 'mail.change')
    return mail.drafts(access, folder.providerId)
  }

  async function findRef({ row }: Pick<StoredDraft, 'row'>): Promise<DraftRef> {
    const { id, uid, uidValidity, providerMessageId, fields } = row
    return {
      draftId: (await providerDraftIds(db.read, [id])).get(id) ?? null,
      messageId: parseFields(fields).messageId,
      providerMessageId,
      location: uid === null || uidValidity === null ? null : { uidValidity, uid },
    }
  }

  function buildContext({ account, labels, folder }: Omit<StoredDraft, 'row'>): DraftContext {
    const { id: accountId, provider } = account
    return { dialect: db.dialect, events: deps.events, accountId, provider, labels, folder, nowMs: clock.now() }
  }

  async function view(row: MessageRow, body: DraftBody): Promise<Draft> {
    return draftView(row, (await providerDraftIds(db.read, [row.id])).get(row.id) ?? null, body)
  }

  async function forget(draft: StoredDraft): Promise<void> {
    await db.transaction(async (tx) => {
      await accounts.hold(tx, draft.account.id)
      await storeApiDeletions(tx, buildContext(draft), [draft.row])
    })
  }

  return {
    find,
    open,
    findRef,
    buildContext,
    view,

    /** The stored body, or else the provider's, which is then stored. */
    async readBody({ row, folder }: Pick<StoredDraft, 'row' | 'folder'>): Promise<DraftBody> {
      const stored = await bodyStore(db.read).find(row.id)
      if (stored !== undefined) return stored
      const contents = await liveContents(deps, row.accountId)
      const ref = { ...row, folderPath: folder.providerId, identity: toIdentity(row) }
      const body = await readLive('The draft', () => contents.getBody(ref))
      await db.transaction(async (tx) => {
        await accounts.hold(tx, row.accountId)
        const [now] = await messageStore(tx).byIds([row.id])
        if (now?.version === row.version) await putBody(tx, row.accountId, row.id, body)
      })
      return body
    },

    /**
     * Stores the current version of a draft at the provider. Throws `not_found` when there is none; sync finds out what became of it.
     * Throws `not_ready` when sync keeps storing other versions meanwhile.
     */
    async refresh(draftBefore: StoredDraft, mailbox: MailDrafts): Promise<StoredDraft> {
      let draft = draftBefore
      for (let reads = 0; reads < MAX_READS; reads += 1) {
        const { row, account } = draft
        const ref = await findRef(draft)
        const remote = await readLive('The draft', () => mailbox.find(ref))
        if (remote === undefined) {
          await db.transaction((tx) => accounts.requestSync(tx, [account.id], 'everything'))
          throw notFound('draft', toDraftId(row.id))
        }
        const now = await db.transaction(async (tx) => {
          await accounts.hold(tx, account.id)
          return storeDraft(tx, buildContext(draft), row, remote)
        })
        if (now !== undefined) return { ...draft, row: now }
        draft = await find(toDraftId(row.id))
      }
      throw beingChanged()
    },

    /** `ifMatch`: the version that a request is for. Throws `conflict` with the current draft for another one. */
    async ensureVersion({ row }: StoredDraft, body: DraftBody, ifMatch: number | undefined): Promise<void> {
      if (ifMatch === undefined || ifMatch === row.version) return
      const message = `The draft has version ${row.version}.`
      throw new AppError('conflict', { message, current: await view(row, body) })
    },

    async delete(draft: StoredDraft, mailbox: MailDrafts): Promise<void> {
      const ref = await findRef(draft)
      await readLive('The draft', () => mailbox.delete(ref))
      await forget(draft)
    },

    /** For a draft that the provider no longer has. */
    forget,
  }
}
