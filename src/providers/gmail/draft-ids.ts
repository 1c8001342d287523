import * as Type from 'typebox'
import { PageLinks, parser } from '../shared/rest/index.ts'
import { ME } from './client.ts'
import type { GmailMailbox } from './quota.ts'

const id = Type.String({ minLength: 1, maxLength: 200 })
const parseDrafts = parser(
  Type.Object({
    drafts: Type.Optional(Type.Array(Type.Object({ id, message: Type.Optional(Type.Object({ id })) }))),
    nextPageToken: Type.Optional(Type.String()),
  }),
)

/** A mailbox with more drafts names only the newest ones. */
const MAX_PAGES = 20

/** The ids of the mailbox's drafts, by the id of their current message: each edit gives a draft another message. */
export async function listDraftIds(mailbox: GmailMailbox, signal?: AbortSignal): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const links = new PageLinks('listing the drafts')
  let pageToken: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { maxResults: 500, fields: 'drafts(id,message/id),nextPageToken', pageToken }
    const request = {
      method: 'GET',
      path: `${ME}/drafts`,
      doing: 'listing the drafts',
      cost: mailbox.costs.list,
      signal,
    } as const
    const { drafts = [], nextPageToken } = await mailbox.json({ ...request, query }, parseDrafts)
    for (const draft of drafts) if (draft.message !== undefined) ids.set(draft.message.id, draft.id)
    if (!nextPageToken) break
    pageToken = links.follow(nextPageToken, drafts.length)
  }
  return ids
}
