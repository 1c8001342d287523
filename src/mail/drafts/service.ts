import { type Account, readLive } from '../../accounts/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import type { UploadedFile } from '../../platform/http/index.ts'
import type { Ids } from '../../platform/ids.ts'
import {
  type DraftBody,
  type DraftChange,
  type MailDrafts,
  type MessageBody,
  type NewDraft,
  ProviderError,
  type RemoteAddress,
  type RemoteDraft,
} from '../../providers/contract/index.ts'
import { newMessageId } from '../../providers/shared/mime/index.ts'
import { type LabelChanger, type LabelRow, labelStore } from '../labels/index.ts'
import {
  liveContents,
  type MessageRow,
  messageStore,
  parseFields,
  reservedIds,
  storeDraft,
  toDraftId,
} from '../messages/index.ts'
import {
  checkSender,
  openReferences,
  type ParsedAttachment,
  parseAttachments,
  parseRecipient,
  parseRecipients,
  readAttachments,
} from '../outgoing/index.ts'
import type { Tracking } from '../tracking/index.ts'
import { type CreateBody, type Draft, draftView, type UpdateBody } from './api.ts'
import { type DraftSendingDeps, draftSending, MAX_BODY_CHARS } from './sending.ts'
import { addCreation, findCreation, withDraftLock } from './store.ts'
import { storedDrafts } from './stored-drafts.ts'

interface DraftsDeps extends DraftSendingDeps {
  ids: Ids
  tracking: Pick<Tracking, 'prepare' | 'store'>
  labels: Pick<LabelChanger, 'refresh'>
}

/** How many bodies a list reads from the provider at once. */
const LIVE_READS = 4

/**
 * Drafts for the API: saved at the provider first, then here. Methods take draft ids, and an account id or `customUserId`, and throw
 * `not_found` for unknown ones. Requests that change one draft run one after the other.
 */
export function draftService(deps: DraftsDeps) {
  const { db, accounts, clock, ids } = deps
  const stored = storedDrafts(deps)

  async function storedDraftsFolder(accountId: string) {
    const labels = await labelStore(db.read).all(accountId)
    const folder = labels.find(({ role, selectable }) => role === 'drafts' && selectable === 1)
    return folder && { labels, folder }
  }

  async function draftsFolder(account: Account): Promise<{ labels: LabelRow[]; folder: LabelRow }> {
    let found = await storedDraftsFolder(account.id)
    if (found === undefined && account.lastSyncAt === null) {
      // Before the first sync no folder is stored.
      await deps.labels.refresh(account.id)
      found = await storedDraftsFolder(account.id)
    }
    if (found === undefined) {
      throw new AppError('not_supported', { message: 'This mailbox has no folder for drafts.' })
    }
    return found
  }

  /** Reads the saved draft, with the headers and the text that the provider made of it. */
  async function savedBody(accountId: string, folder: LabelRow, { message }: RemoteDraft, body: DraftBody) {
    const contents = await liveContents(deps, accountId)
    const { uidValidity = null, uid = null } = message.location ?? {}
    const providerMessageId = message.providerMessageId ?? ''
    const ref = { providerMessageId, uidValidity, uid, folderPath: folder.providerId, identity: undefined }
    const read = await readLive('The draft', () => contents.getBody(ref))
    const saved: MessageBody = { ...read, html: body.html, text: body.text ?? read.text }
    return saved
  }

  /** Undefined without attachments in the request. */
  async function readContents(accountId: string, attachments: ParsedAttachment[] | undefined) {
    return attachments && readAttachments(openReferences(deps.reader, accountId, attachments))
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

  /** Saves a new draft at the provider. */
  async function save(idOrAlias: string, input: CreateBody, { requestKey, files }: RequestParts) {
    const { id: accountId } = await accounts.resolve(db.read, idOrAlias)
    const account = await accounts.get(accountId)
    const {
      to = [],
      cc = [],
      bcc = [],
      from = { name: '', email: account.email },
      attachments,
    } = parseInput(input, files)
    await checkSender(deps, account, from, 'body.from')
    const { labels, folder } = await draftsFolder(account)
    const mailbox = await stored.open({ account, folder })
    const nowMs = clock.now()
    const { messageId, mayExist } = await db.transaction(async (tx) => {
      await accounts.hold(tx, accountId)
      const begun = requestKey === null ? undefined : await findCreation(tx, requestKey)
      if (begun !== undefined) return { messageId: begun, mayExist: true }
      const messageId = ids('msg')
      await addCreation(tx, { messageId, accountId, requestKey, createdAt: nowMs })
      const rfcMessageId = buildRfcId(messageId, account)
      await reservedIds.reserve(tx, { accountId, messageId, as: 'draft' }, [{ rfcMessageId }], nowMs)
      return { messageId, mayExist: false }
    })
    const { subject } = input
    const body = toBody(input.body, input.isHtml === true)
    const rfcMessageId = buildRfcId(messageId, account)
    const attached = await readContents(accountId, attachments)
    const about = { from, messageId: rfcMessageId, date: nowMs }
    const draft: NewDraft = { to, cc, bcc, subject, body, attachments: attached, ...about }
    const saved = await readLive('The folder for drafts', () => saveNew(mailbox, draft, mayExist))
    const read = await savedBody(accountId, folder, saved, body)
    return {
      accountId,
      messageId,
      rfcMessageId,
      subject,
      html: body.html,
      async store(tx: Tx) {
        await accounts.hold(tx, accountId)
        const context = stored.buildContext({ account, labels, folder })
        const row = await storeDraft(tx, context, { newId: messageId }, saved, read)
        return { row, draft: draftView(row, saved.message.draftId ?? null, read) }
      },
    }
  }

  async function get(draftId: string): Promise<Draft> {
    const draft = await stored.find(draftId)
    return stored.view(draft.row, await stored.readBody(draft))
  }

  return {
    ...draftSending(deps, stored),

    get,

    async list(idOrAlias: string, query: PageQuery): Promise<Page<Draft>> {
      const { id: accountId } = await accounts.resolve(db.read, idOrAlias)
      const filter = ['drafts', accountId]
      const request = pageRequest(query, filter, ['integer', 'text'])
      const folder = (await labelStore(db.read).all(accountId)).find(({ role }) => role === 'drafts')
      if (folder === undefined) return buildPage([], request, 0, filter, () => [])
      const store = messageStore(db.read)
      const rows = await store.newestInLabel(folder.id, request.limit + 1, request)
      const { total } = await store.count(accountId, folder.id)
      const { items, pagination } = buildPage(rows, request, total, filter, (row) => [row.receivedAt, row.id])
      const drafts: Draft[] = []
      for (let start = 0; start < items.length; start += LIVE_READS) {
        const some = items.slice(start, start + LIVE_READS)
        const views = some.map(async (row) => stored.view(row, await stored.readBody({ row, folder })))
        drafts.push(...(await Promise.all(views)))
      }
      return { items: drafts, pagination }
    },

    /**
     * Saves a new draft at the provider; the function returned stores it.
     */
    async create(idOrAlias: string, input: CreateBody, request: RequestParts) {
      const { store } = await save(idOrAlias, input, request)
      return store
    },

    /** As `create`, with a tracking. */
    async createTracked(idOrAlias: string, input: CreateBody, request: RequestParts) {
      const { store, ...saved } = await save(idOrAlias, input, request)
      const tracking = await deps.tracking.prepare({ ...saved, insert: false })
      return async (tx: Tx) => {
        const result = await store(tx)
        await deps.tracking.store(tx, tracking)
        return { ...result, tracking: tracking.result }
      }
    },

    /** `ifMatch`: the version that the change is for. Throws `conflict` with the current draft for another one. */
    async update(draftId: string, changes: UpdateBody, { ifMatch, files }: UpdateParts): Promise<Draft> {
      const { attachments, ...parsed } = parseInput(changes, files)
      const { row, account } = await stored.find(draftId)
      if (parsed.from !== undefined) await checkSender(deps, account, parsed.from, 'body.from')
      return withDraftLock(deps, { messageId: row.id, accountId: account.id }, async () => {
        const found = await stored.find(draftId)
        const mailbox = await stored.open(found)
        const draft = await stored.refresh(found, mailbox)
        const before = await stored.readBody(draft)
        await stored.ensureVersion(draft, before, ifMatch)
        const body = changedBody(changes, before)
        const change: DraftChange = {
          ...parsed,
          subject: changes.subject,
          body,
          attachments: await readContents(account.id, attachments && withOwnContentIds(attachments, draft.row)),
          messageId: buildRfcId(row.id, account),
          date: clock.now(),
        }
        const ref = await stored.findRef(draft)
        const saved = await readLive('The draft', () => mailbox.replace(ref, change))
        const after = await savedBody(account.id, draft.folder, saved, body ?? before)
        const changed = await db.transaction(async (tx) => {
          await accounts.hold(tx, account.id)
          return storeDraft(tx, stored.buildContext(draft), draft.row, saved, after)
        })
        // Another program has changed the draft since, or deleted it.
        return changed === undefined ? get(draftId) : stored.view(changed, after)
      })
    },

    async remove(draftId: string): Promise<void> {
      const { row, account } = await stored.find(draftId)
      await withDraftLock(deps, { messageId: row.id, accountId: account.id }, async () => {
        const draft = await stored.find(draftId)
        await stored.delete(draft, await stored.open(draft))
      })
    },
  }
}

export type DraftService = ReturnType<typeof draftService>

/** Derived from the id, so that a draft saved just before a crash is recognised. */
function buildRfcId(messageId: string, { email }: Account): string {
  return newMessageId(toDraftId(messageId), email)
}

function toBody(text: string, isHtml: boolean): DraftBody {
  return isHtml ? { text: null, html: text } : { text, html: null }
}

/** Undefined when the request does not change the body. */
function changedBody({ body, isHtml }: UpdateBody, before: DraftBody): DraftBody | undefined {
  const wasHtml = before.html !== null
  if (body !== undefined) return toBody(body, isHtml ?? wasHtml)
  if (isHtml === undefined || isHtml === wasHtml) return undefined
  const text = before.html ?? before.text ?? ''
  if (text.length > MAX_BODY_CHARS)
    throw invalid('body.body', 'is required: the present one is too long to be converted')
  return toBody(text, isHtml)
}

/** An image of the draft that its HTML shows keeps its Content-ID unless the request gives it another one. */
function withOwnContentIds(attachments: readonly ParsedAttachment[], { id, fields }: MessageRow): ParsedAttachment[] {
  const own = parseFields(fields).attachments
  return attachments.map((entry) => {
    if ('content' in entry || entry.messageId !== id || entry.contentId !== null) return entry
    const stored = own.find((attachment) => attachment.id === entry.attachmentId)
    return { ...entry, contentId: stored?.inline ? stored.contentId : null }
  })
}

interface RequestParts {
  /** Identifies a request that may be repeated: the draft that its first attempt saved is then found again. */
  requestKey: string | null
  files?: readonly UploadedFile[] | undefined
}

interface UpdateParts extends Pick<RequestParts, 'files'> {
  /** The version that the change is for. */
  ifMatch: number | undefined
}

interface ParsedDraft {
  from?: RemoteAddress
  to?: RemoteAddress[]
  cc?: RemoteAddress[]
  bcc?: RemoteAddress[]
  attachments?: ParsedAttachment[]
}

/** Parses what is given. Throws `validation_failed` with one error per invalid entry. */
function parseInput(input: UpdateBody, files: RequestParts['files'] = []): ParsedDraft {
  const errors: ErrorDetail[] = []
  const list = (name: 'to' | 'cc' | 'bcc') => input[name] && parseRecipients(name, input[name], errors)
  const [to, cc, bcc] = [list('to'), list('cc'), list('bcc')]
  const [from] = input.from === undefined ? [] : parseRecipient('body.from', input.from, errors)
  const attachments = parseAttachments(input.attachments, files, errors)
  if (errors.length > 0) throw invalidFields(errors)
  const hasAttachments = input.attachments !== undefined || files.length > 0
  return {
    ...(from && { from }),
    ...(to && { to }),
    ...(cc && { cc }),
    ...(bcc && { bcc }),
    ...(hasAttachments && { attachments }),
  }
}
