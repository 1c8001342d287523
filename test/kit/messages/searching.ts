import { onTestFinished } from 'vitest'
import { labelStore, newLabelRow } from '../../../src/mail/labels/index.ts'
import { type MessageRow, mailHorizons } from '../../../src/mail/messages/index.ts'
import type { MessageListQuery } from '../../../src/mail/messages/read/stored-list.ts'
import { type MessageWriter, messageWriter } from '../../../src/mail/messages/rows/writer.ts'
import { allMail } from '../../../src/mail/messages/store.ts'
import type { Db, Tx } from '../../../src/platform/db/index.ts'
import type { Pagination } from '../../../src/platform/formats/pagination.ts'
import type { ProviderName } from '../../../src/providers/contract/index.ts'
import { imapLink, imapUser } from '../accounts/accounts.ts'
import { type CompositionOptions, compose } from '../service/composition.ts'
import { messageRow } from './message-row.ts'

/** The parts of a message that a test gives; the rest is empty. */
export interface Written {
  subject?: string
  text?: string
  from?: string | { name: string; email: string }
  to?: { name: string; email: string }[]
  cc?: { name: string; email: string }[]
  attachments?: string[]
  receivedAt?: number
  unread?: boolean
  folder?: string
}

/** Accounts whose messages are written straight to the database, and the service's own search in them. */
export function searching(db: Db, options: CompositionOptions = {}) {
  // A busy machine takes seconds to start the worker thread.
  const composition = compose(db, {
    ...options,
    features: { ...options.features, search: { catchUpMs: 60_000, ...options.features?.search } },
  })
  onTestFinished(() => composition.close())
  const { reader, accounts, search } = composition.features
  const { ids, clock } = composition.context

  async function mailbox(provider: ProviderName = 'imap') {
    const { id: accountId } = await db.transaction((tx) =>
      accounts.link(tx, { ...imapLink(imapUser(ids('ses'))), provider }),
    )
    const names = ['INBOX', 'Work']
    const folders = names.map((path, index) => ({
      ...newLabelRow(
        { path, name: path, role: null, delimiter: '/', mailboxId: null, selectable: true },
        { id: ids('lbl'), accountId, provider, nowMs: 1 },
      ),
      syncedAs: provider === 'imap' ? `${index === 0 ? 'main' : 'folder'}:${path}` : 'mailbox',
    }))
    await db.transaction(async (tx) => {
      await labelStore(tx).insert(folders)
      // Nothing more is at the provider.
      const horizon = { accountId, storedSince: 0 }
      for (const scopeId of [accountId, ...folders.map(({ id }) => id)])
        await mailHorizons(tx).save({ ...horizon, scopeId })
    })
    const labels = Object.fromEntries(folders.map((folder) => [folder.name, folder.id]))
    let uid = 0
    const change = <T>(work: (writer: MessageWriter, tx: Tx) => Promise<T>) =>
      db.transaction((tx) => work(messageWriter(tx, { dialect: db.dialect, accountId, nowMs: clock.now() }), tx))

    function buildRow({ receivedAt, folder = 'INBOX', unread = false, ...content }: Written): MessageRow {
      uid += 1
      return {
        ...messageRow(ids('msg'), uid),
        accountId,
        folderId: labels[folder] ?? null,
        receivedAt: receivedAt ?? uid * 1000,
        unread: unread ? 1 : 0,
        ...(provider !== 'imap' && { uid: null, uidValidity: null, providerMessageId: `p${uid}` }),
        ...buildContent(content),
      }
    }

    return {
      accountId,
      labels,
      change,
      buildRow,
      async add(...written: Written[]): Promise<MessageRow[]> {
        const rows = written.map(buildRow)
        const labelled = (row: MessageRow) => [...(row.folderId === null ? [] : [row.folderId]), allMail(accountId)]
        return change((writer) => (provider === 'imap' ? writer.insert(rows) : writer.insert(rows, labelled)))
      },
      async find(query: MessageListQuery): Promise<{ ids: string[]; subjects: string[]; pagination: Pagination }> {
        const { messages, pagination } = await reader.list(accountId, query)
        const found: { id: string; subject: string }[] = JSON.parse(`[${messages}]`)
        return { ids: found.map(({ id }) => id), subjects: found.map(({ subject }) => subject), pagination }
      },
    }
  }
  return { composition, search, mailbox }
}

/** The columns of a message with this content. */
export function buildContent({ subject = '', text = '', from, to = [], cc = [], attachments = [] }: Written) {
  const sender = typeof from === 'string' ? { name: '', email: from } : (from ?? null)
  return {
    subject,
    text,
    hasAttachments: attachments.length > 0 ? 1 : 0,
    fields: JSON.stringify({
      messageId: null,
      inReplyTo: null,
      references: [],
      from: sender,
      to,
      cc,
      bcc: [],
      replyTo: [],
      date: null,
      attachments: attachments.map((filename, index) => ({
        id: `${index + 2}`,
        filename,
        contentType: 'a/b',
        sizeBytes: 1,
        inline: false,
        contentId: null,
      })),
    }),
  }
}
