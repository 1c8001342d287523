import type { Recorder } from '../../events/index.ts'
import type { Db, Tx } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { type Page, type PageQuery, pageOf, pageRequest } from '../../lib/page.ts'
import {
  type DraftBody,
  type DraftRef,
  type MailDrafts,
  type MessageBody,
  type NewDraft,
  ProviderError,
  type RemoteDraft,
} from '../../providers/contract/index.ts'
import { newMessageId } from '../../providers/mime/index.ts'
import { type Account, type Accounts, openMailbox, readLive } from '../accounts/index.ts'
import { type LabelRow, labelStore } from '../labels/index.ts'
import {
  bodyStore,
  type DraftContext,
  draftIdOf,
  type LiveAccessDeps,
  liveContents,
  type MessageRow,
  messageIdOf,
  messageStore,
  parseFields,
  providerDraftIds,
  putBody,
  reserveMessage,
  storeApiDeletions,
  storeDraft,
} from '../messages/index.ts'
import type { Tracking } from '../tracking/index.ts'
import { type CreateBody, type Draft, draftView, type UpdateBody } from './api.ts'
import { bodyOf, parseRecipients } from './input.ts'
import { addCreation, findCreation, withDraftLock } from './store.ts'

export interface DraftsDeps extends LiveAccessDeps {
  db: Db
  accounts: LiveAccessDeps['accounts'] & Pick<Accounts, 'requestSync'>
  events: Recorder
  clock: Clock
  ids: Ids
  tracking: Pick<Tracking, 'prepare' | 'store'>
}

/** A stored draft, with what a change of it needs. */
interface StoredDraft {
  row: MessageRow
  account: Account
  labels: LabelRow[]
  folder: LabelRow
}

/** How many bodies a list reads from the provider at once. */
const LIVE_READS = 4

/**
 * Drafts for the API: saved at the provider first, then here. Methods take draft ids, and an account id or `customUserId`, and throw
 * `not_found` for unknown ones. Requests that change one draft run one after the other.
 */
export function draftService(deps: DraftsDeps) {
  const { db, accounts, clock, ids } = deps

  async function draftsFolder(account: Account): Promise<{ labels: LabelRow[]; folder: LabelRow }> {
    const labels = await labelStore(db.read).all(account.id)
    const folder = labels.find(({ role, selectable }) => role === 'drafts' && selectable === 1)
    if (folder !== undefined) return { labels, folder }
    if (account.lastSyncAt === null) {
      const message = 'The folders of this account are not known yet. Try again after its first sync.'
      throw new AppError('not_ready', { message, headers: { 'retry-after': '5' } })
    }
    throw new AppError('not_supported', { message: 'This mailbox has no folder for drafts.' })
  }

  async function find(draftId: string): Promise<StoredDraft> {
    const messageId = messageIdOf(draftId)
    const [row] = messageId === undefined ? [] : await messageStore(db.read).byIds([messageId])
    if (row === undefined || row.goneAt !== null) throw notFound('draft', draftId)
    const labels = await labelStore(db.read).all(row.accountId)
    const folder = labels.find(({ id }) => id === row.folderId)
    if (folder?.role !== 'drafts') throw notFound('draft', draftId)
    return { row, account: await accounts.get(row.accountId), labels, folder }
  }

  async function open(account: Account, folder: LabelRow): Promise<MailDrafts> {
    const { mail, access } = await openMailbox(deps, account.id, 'mail.change')
    return mail.drafts(access, folder.providerId)
  }

  async function refOf({ row }: Pick<StoredDraft, 'row'>): Promise<DraftRef> {
    const { id, uid, uidValidity, providerMessageId, fields } = row
    return {
      draftId: (await providerDraftIds(db.read, [id])).get(id) ?? null,
      messageId: parseFields(fields).messageId,
      providerMessageId,
      location: uid === null || uidValidity === null ? null : { uidValidity, uid },
    }
  }

  function contextOf({ account, labels, folder }: Omit<StoredDraft, 'row'>): DraftContext {
    const { id: accountId, provider } = account
    return { dialect: db.dialect, events: deps.events, accountId, provider, labels, folder, nowMs: clock.now() }
  }

  async function view(row: MessageRow, body: DraftBody): Promise<Draft> {
    return draftView(row, (await providerDraftIds(db.read, [row.id])).get(row.id) ?? null, body)
  }

  /** The stored body, or else the provider's, which is then stored. */
  async function readBody({ row, folder }: Pick<StoredDraft, 'row' | 'folder'>): Promise<DraftBody> {
    const stored = await bodyStore(db.read).find(row.id)
    if (stored !== undefined) return stored
    const contents = await liveContents(deps, row.accountId)
    const body = await readLive('The draft', () => contents.getBody({ ...row, folderPath: folder.providerId }))
    await db.transaction(async (tx) => {
      await accounts.hold(tx, row.accountId)
      const [now] = await messageStore(tx).byIds([row.id])
      if (now?.version === row.version) await putBody(tx, row.accountId, row.id, body)
    })
    return body
  }

  /** What was saved, with the headers and the text that the provider made of it. */
  async function savedBody(accountId: string, folder: LabelRow, { message }: RemoteDraft, body: DraftBody) {
    const contents = await liveContents(deps, accountId)
    const { uidValidity = null, uid = null } = message.location ?? {}
    const ref = { providerMessageId: message.providerMessageId ?? '', uidValidity, uid, folderPath: folder.providerId }
    const read = await readLive('The draft', () => contents.getBody(ref))
    const saved: MessageBody = { ...read, html: body.html, text: body.text ?? read.text }
    return saved
  }

  /** Stores the current version of a draft at the provider. Throws `not_found` when there is none. */
  async function refresh(draft: StoredDraft, mailbox: MailDrafts): Promise<StoredDraft> {
    const ref = await refOf(draft)
    const remote = await readLive('The draft', () => mailbox.find(ref))
    if (remote === undefined) throw await missing(draft)
    const row = await db.transaction(async (tx) => {
      await accounts.hold(tx, draft.account.id)
      return storeDraft(tx, contextOf(draft), draft.row.id, remote)
    })
    return { ...draft, row }
  }

  /** Sync finds out what became of the draft. */
  async function missing({ row, account }: StoredDraft): Promise<AppError> {
    await db.transaction((tx) => accounts.requestSync(tx, [account.id], 'everything'))
    return notFound('draft', draftIdOf(row.id))
  }

  async function saveNew(mailbox: MailDrafts, draft: NewDraft, mayExist: boolean): Promise<RemoteDraft> {
    try {
      return await mailbox.create(draft, { mayExist })
    } catch (error) {
      // The provider may have saved it all the same.
      if (!(error instanceof ProviderError) || error.kind !== 'unavailable' || error.timedOut) throw error
      return mailbox.create(draft, { mayExist: true })
    }
  }

  return {
    async get(draftId: string): Promise<Draft> {
      const draft = await find(draftId)
      return view(draft.row, await readBody(draft))
    },

    async list(idOrAlias: string, query: PageQuery): Promise<Page<Draft>> {
      const { id: accountId } = await accounts.resolve(db.read, idOrAlias)
      const filter = ['drafts', accountId]
      const request = pageRequest(query, filter, ['integer', 'text'])
      const folder = (await labelStore(db.read).all(accountId)).find(({ role }) => role === 'drafts')
      if (folder === undefined) return pageOf([], request, 0, filter, () => [])
      const store = messageStore(db.read)
      const rows = await store.newestInLabel(folder.id, request.limit + 1, request)
      const { total } = await store.count(accountId, folder.id)
      const { items, pagination } = pageOf(rows, request, total, filter, (row) => [row.receivedAt, row.id])
      const drafts: Draft[] = []
      for (let start = 0; start < items.length; start += LIVE_READS) {
        const some = items.slice(start, start + LIVE_READS)
        drafts.push(...(await Promise.all(some.map(async (row) => view(row, await readBody({ row, folder }))))))
      }
      return { items: drafts, pagination }
    },

    /**
     * Saves a new draft at the provider; the function returned stores it. `requestKey` identifies a request that may be repeated: the
     * draft that its first attempt saved is then found again.
     */
    async create(idOrAlias: string, given: CreateBody, requestKey: string | null) {
      const { id: accountId } = await accounts.resolve(db.read, idOrAlias)
      const account = await accounts.get(accountId)
      const { to = [], cc = [], bcc = [] } = parseRecipients(given)
      const { labels, folder } = await draftsFolder(account)
      const mailbox = await open(account, folder)
      const nowMs = clock.now()
      const { messageId, mayExist } = await db.transaction(async (tx) => {
        await accounts.hold(tx, accountId)
        const begun = requestKey === null ? undefined : await findCreation(tx, requestKey)
        if (begun !== undefined) return { messageId: begun, mayExist: true }
        const messageId = ids('msg')
        await addCreation(tx, { messageId, accountId, requestKey, createdAt: nowMs })
        const rfcMessageId = rfcIdOf(messageId, account)
        await reserveMessage(tx, { accountId, messageId, as: 'draft' }, [{ rfcMessageId }], nowMs)
        return { messageId, mayExist: false }
      })
      const { subject } = given
      const body = bodyOf(given.body, given.isHtml === true)
      const from = { name: '', email: account.email }
      const rfcMessageId = rfcIdOf(messageId, account)
      const draft: NewDraft = { to, cc, bcc, subject, body, from, messageId: rfcMessageId, date: nowMs }
      const saved = await readLive('The folder for drafts', () => saveNew(mailbox, draft, mayExist))
      const read = await savedBody(accountId, folder, saved, body)
      const about = { accountId, messageId, rfcMessageId, subject, html: body.html, insert: false }
      const tracking = await deps.tracking.prepare(about)
      return async (tx: Tx, { tracked }: { tracked: boolean }) => {
        await accounts.hold(tx, accountId)
        const row = await storeDraft(tx, contextOf({ account, labels, folder }), messageId, saved, read)
        if (tracked) await deps.tracking.store(tx, tracking)
        return { row, draft: draftView(row, saved.message.draftId ?? null, read), tracking: tracking.result }
      }
    },

    /** `ifMatch`: the version that the change is for. Throws `conflict` with the current draft for another one. */
    async update(draftId: string, changes: UpdateBody, ifMatch: number | undefined): Promise<Draft> {
      const parsed = parseRecipients(changes)
      const { row, account } = await find(draftId)
      return withDraftLock(deps, { messageId: row.id, accountId: account.id }, async () => {
        const stored = await find(draftId)
        const mailbox = await open(account, stored.folder)
        const draft = await refresh(stored, mailbox)
        const before = await readBody(draft)
        if (ifMatch !== undefined && ifMatch !== draft.row.version) {
          const message = `The draft has version ${draft.row.version}.`
          throw new AppError('conflict', { message, current: await view(draft.row, before) })
        }
        const { to, cc, bcc, from } = parseFields(draft.row.fields)
        const isHtml = changes.isHtml ?? before.html !== null
        const text = changes.body ?? before.html ?? before.text ?? ''
        const keepsBody = changes.body === undefined && isHtml === (before.html !== null)
        const content: NewDraft = {
          ...{ to, cc, bcc, ...parsed },
          subject: changes.subject ?? draft.row.subject,
          body: keepsBody ? { text: before.text, html: before.html } : bodyOf(text, isHtml),
          from: from ?? { name: '', email: account.email },
          messageId: rfcIdOf(row.id, account),
          date: clock.now(),
        }
        const ref = await refOf(draft)
        const saved = await readLive('The draft', () => mailbox.replace(ref, content))
        const body = await savedBody(account.id, draft.folder, saved, content.body)
        const after = await db.transaction(async (tx) => {
          await accounts.hold(tx, account.id)
          return storeDraft(tx, contextOf(draft), row.id, saved, body)
        })
        return view(after, body)
      })
    },

    async remove(draftId: string): Promise<void> {
      const { row, account } = await find(draftId)
      await withDraftLock(deps, { messageId: row.id, accountId: account.id }, async () => {
        const draft = await find(draftId)
        const mailbox = await open(account, draft.folder)
        const ref = await refOf(draft)
        await readLive('The draft', () => mailbox.delete(ref))
        await db.transaction(async (tx) => {
          await accounts.hold(tx, account.id)
          await storeApiDeletions(tx, contextOf(draft), [draft.row])
        })
      })
    },
  }
}

export type DraftService = ReturnType<typeof draftService>

/** Derived from the id, so that a draft saved just before a crash is recognised. */
function rfcIdOf(messageId: string, { email }: Account): string {
  return newMessageId(draftIdOf(messageId), email)
}
