import * as Type from 'typebox'
import type { Account, Label, List } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'
import { apiPath } from '../rest-api.ts'
import { tool } from '../tool.ts'
import { ACCOUNT, CURSOR, LIMIT } from './arguments.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

const listAccounts = tool({
  name: 'list_accounts',
  title: 'List accounts',
  description:
    'Lists the connected mailboxes with their ids, which the other tools need. An account whose status is auth_error cannot be used until its owner connects it again.',
  access: 'read',
  isOpenWorld: false,
  input: {
    query: Type.Optional(Type.String({ maxLength: 320, description: 'A part of the address.' })),
    limit: LIMIT,
    cursor: CURSOR,
  },
  facts: PAGE_FACTS,
  untrusted: {
    accounts: Type.Array(
      Type.Object({
        id: Type.String(),
        email: Type.String(),
        provider: Type.String(),
        status: Type.String(),
        customUserId: Type.Optional(Type.String()),
      }),
    ),
  },
  async run({ query, limit, cursor }, { api }) {
    const found = await api.get<List<'accounts', Account>>('/accounts', { q: query, limit, cursor })
    const accounts = found.accounts.map(({ id, email, provider, status, customUserId }) => ({
      id,
      email,
      provider,
      status,
      ...(customUserId !== null && { customUserId: shortText(customUserId, 320) }),
    }))
    return {
      summary: pageSummary('account', accounts.length, found.pagination),
      facts: pageFacts(accounts.length, found.pagination),
      untrusted: { accounts },
    }
  },
})

const listLabels = tool({
  name: 'list_labels',
  title: 'List labels and folders',
  description:
    'Lists the labels (Gmail) or folders (Microsoft, IMAP) of an account, with the ids that search_messages and update_message take.',
  access: 'read',
  input: { accountId: ACCOUNT, limit: LIMIT, cursor: CURSOR },
  facts: PAGE_FACTS,
  untrusted: {
    labels: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        type: Type.String({ description: 'system or user.' }),
        role: Type.Optional(Type.String({ description: 'inbox, sent, drafts, trash, junk, archive, all or flagged.' })),
      }),
    ),
  },
  async run({ accountId, limit, cursor }, { api }) {
    const path = apiPath`/accounts/${accountId}/labels`
    const found = await api.get<List<'labels', Label>>(path, { includeSystem: true, limit, cursor })
    const labels = found.labels.map(({ id, name, type, role }) => ({
      id,
      name: shortText(name, 300),
      type,
      ...(role !== null && { role }),
    }))
    return {
      summary: pageSummary('label', labels.length, found.pagination),
      facts: pageFacts(labels.length, found.pagination),
      untrusted: { labels },
    }
  },
})

export const accountTools = [listAccounts, listLabels]
