import * as Type from 'typebox'
import type { Done, Draft, List } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'
import { apiPath } from '../rest-api.ts'
import { tool } from '../tool.ts'
import { ACCOUNT, CURSOR, LIMIT, RECIPIENTS } from './arguments.ts'
import { bodyText, textPart, viewAttachment } from './message-view.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

const LIST_CHARACTERS = 300
export const DRAFT_CHARACTERS = 20_000

export const DRAFT = Type.String({ minLength: 1, maxLength: 200, description: 'The id of a draft.' })
export const SUBJECT = Type.String({ minLength: 1, maxLength: 998, description: 'The subject, one line.' })
export const BODY = Type.String({ minLength: 1, maxLength: 100_000, description: 'The text, without HTML.' })

export const draftView = Type.Object({
  id: Type.String(),
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  bcc: Type.Array(Type.String()),
  subject: Type.String(),
  text: Type.String(),
  textIsCut: Type.Boolean(),
  attachments: Type.Array(
    Type.Object({ id: Type.String(), filename: Type.String(), contentType: Type.String(), sizeBytes: Type.Integer() }),
  ),
  updatedAt: Type.String(),
})

/** Never cuts the recipients: a person who confirms must see all of them. */
export function viewDraft(draft: Draft, characters: number) {
  const { id, to, cc, bcc, subject, body, isHtml, attachments, updatedAt } = draft
  const whole = bodyText({ body: { text: isHtml ? null : body, html: isHtml ? body : null } })
  const { text, nextOffset } = textPart(whole, 0, characters)
  return {
    id,
    to,
    cc,
    bcc,
    subject: shortText(subject, 998),
    text,
    textIsCut: nextOffset !== undefined,
    attachments: attachments.map(viewAttachment),
    updatedAt,
  }
}

const listDrafts = tool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'Lists the drafts of an account, newest first, whichever program wrote them.',
  access: 'read',
  input: { accountId: ACCOUNT, limit: LIMIT, cursor: CURSOR },
  facts: PAGE_FACTS,
  untrusted: { drafts: Type.Array(draftView) },
  async run({ accountId, limit, cursor }, { api }) {
    const found = await api.get<List<'drafts', Draft>>(apiPath`/accounts/${accountId}/drafts`, { limit, cursor })
    const drafts = found.drafts.map((draft) => viewDraft(draft, LIST_CHARACTERS))
    return {
      summary: pageSummary('draft', drafts.length, found.pagination),
      facts: pageFacts(drafts.length, found.pagination),
      untrusted: { drafts },
    }
  },
})

const readDraft = tool({
  name: 'read_draft',
  title: 'Read a draft',
  description: `Returns a draft with the first ${DRAFT_CHARACTERS} characters of its text.`,
  access: 'read',
  input: { draftId: DRAFT },
  untrusted: { draft: draftView },
  async run({ draftId }, { api }) {
    const draft = await api.get<Draft>(apiPath`/drafts/${draftId}`)
    return { summary: 'The draft.', untrusted: { draft: viewDraft(draft, DRAFT_CHARACTERS) } }
  },
})

const createDraft = tool({
  name: 'create_draft',
  title: 'Save a draft',
  description: 'Saves a draft in the mailbox. It is not sent.',
  access: 'write',
  input: {
    accountId: ACCOUNT,
    to: RECIPIENTS,
    cc: Type.Optional(RECIPIENTS),
    bcc: Type.Optional(RECIPIENTS),
    subject: SUBJECT,
    body: BODY,
  },
  facts: { draftId: Type.String() },
  async run(fields, { api }) {
    const draft = await api.send<Draft>('POST', '/drafts', { body: fields })
    return { summary: 'The draft was saved. It was not sent.', facts: { draftId: draft.id } }
  },
})

const updateDraft = tool({
  name: 'update_draft',
  title: 'Change a draft',
  description: 'Replaces the given fields of a draft. It is not sent.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: {
    draftId: DRAFT,
    to: Type.Optional(RECIPIENTS),
    cc: Type.Optional(RECIPIENTS),
    bcc: Type.Optional(RECIPIENTS),
    subject: Type.Optional(SUBJECT),
    body: Type.Optional(BODY),
  },
  facts: { draftId: Type.String() },
  async run({ draftId, ...fields }, { api }) {
    // A new text is plain text, also where the old one was HTML.
    const body = { ...fields, ...(fields.body !== undefined && { isHtml: false }) }
    const draft = await api.send<Draft>('PUT', apiPath`/drafts/${draftId}`, { body })
    return { summary: 'The draft was changed. It was not sent.', facts: { draftId: draft.id } }
  },
})

const deleteDraft = tool({
  name: 'delete_draft',
  title: 'Delete a draft',
  description: 'Deletes a draft for good.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: { draftId: DRAFT },
  async run({ draftId }, { api }) {
    await api.send<Done>('DELETE', apiPath`/drafts/${draftId}`)
    return { summary: 'The draft was deleted.' }
  },
})

export const draftTools = [listDrafts, readDraft, createDraft, updateDraft, deleteDraft]
