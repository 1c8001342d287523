import type { DraftsFixture } from '../../src/providers/conformance/drafts.ts'
import type { DraftRef, FolderMailProvider } from '../../src/providers/contract/index.ts'
import { composeDraft } from '../../src/providers/shared/mime/index.ts'
import { gmailMailbox } from './gmail-mailbox.ts'
import { imapMailbox, otherClient } from './imap-mailbox.ts'
import { folderPath, type ImapServer } from './imap-server.ts'
import { plainMail } from './messages.ts'
import { microsoftMailbox } from './microsoft-mailbox.ts'
import type { TokenOwner } from './opened-access.ts'

const NO_LOCATION = { messageId: null, location: null }

/** A mailbox on a real server. The other program is imapflow. */
export async function imapDraftsFixture(server: ImapServer, mail?: FolderMailProvider): Promise<DraftsFixture> {
  const box = await imapMailbox(server, {}, mail)
  const folder = folderPath(server, 'Drafts')
  const withClient = <T>(work: Parameters<typeof otherClient<T>>[3]) => otherClient(server, box.user, 'secret', work)
  async function append(raw: Buffer): Promise<DraftRef> {
    return withClient(async (client) => {
      const saved = await client.append(folder, raw, ['\\Draft'])
      if (saved === false || saved.uid === undefined) throw new Error('the draft was not saved')
      const messageId = /^Message-ID: (.*)$/im.exec(raw.toString())?.[1]?.trim() ?? null
      const location = { uidValidity: String(saved.uidValidity), uid: saved.uid }
      return { draftId: null, providerMessageId: '', messageId, location }
    })
  }
  const raws = () =>
    withClient(async (client) => {
      const { exists } = await client.mailboxOpen(folder, { readOnly: true })
      const rows = exists === 0 ? [] : await client.fetchAll('1:*', { source: true })
      return rows.flatMap(({ source }) => source ?? [])
    })
  const removeBelow = (uid: number) =>
    withClient(async (client) => {
      await client.mailboxOpen(folder)
      await client.messageDelete(`1:${uid}`, { uid: true })
    })
  return {
    drafts: box.mail.drafts(box.access, folder),
    readBytes: composeDraft,
    raws,
    write: append,
    async edit(subject) {
      const [raw = Buffer.alloc(0)] = await raws()
      const messageId = /^Message-ID: (.*)$/im.exec(raw.toString())?.[1]?.trim() ?? ''
      const { location } = await append(plainMail({ subject, messageId }))
      await removeBelow((location?.uid ?? 1) - 1)
    },
    remove: () => removeBelow(1_000_000),
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}

/** A mailbox at the fake Google. The other program calls `users.drafts`. */
export async function gmailDraftsFixture(): Promise<DraftsFixture> {
  const box = await gmailMailbox()
  const { google, user } = box
  const { accessToken } = await google.grant(user)
  interface Draft {
    drafts?: { id: string }[]
    message: { id: string; raw: string }
  }
  async function call(method: string, path: string, raw?: Buffer): Promise<Draft> {
    const response = await fetch(`${google.url}/gmail/v1/users/me/drafts${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(raw && { body: JSON.stringify({ message: { raw: raw.toString('base64url') } }) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    const text = await response.text()
    return JSON.parse(text || '{}') as Draft
  }
  const list = async () => (await call('GET', '')).drafts ?? []
  return {
    drafts: box.mail.drafts(box.access, 'DRAFT'),
    readBytes: composeDraft,
    async raws() {
      const found = await Promise.all((await list()).map(({ id }) => call('GET', `/${id}?format=raw`)))
      return found.map(({ message }) => Buffer.from(message.raw, 'base64url'))
    },
    async write(raw) {
      const { message } = await call('POST', '', raw)
      return { ...NO_LOCATION, draftId: null, providerMessageId: message.id }
    },
    async edit(subject) {
      const [draft] = await list()
      await call('PUT', `/${draft?.id}`, plainMail({ subject }))
    },
    async remove() {
      const [draft] = await list()
      await call('DELETE', `/${draft?.id}`)
    },
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}

/** A mailbox at the fake Graph. The other program calls its API. */
export async function microsoftDraftsFixture(owner: TokenOwner = 'user'): Promise<DraftsFixture> {
  const box = await microsoftMailbox({}, owner)
  const { graph, user } = box
  const { accessToken } = await graph.grant(user)
  async function call(method: string, path: string, body?: object) {
    const response = await fetch(`${graph.url}/v1.0/me${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    return response
  }
  const list = async () =>
    ((await (await call('GET', '/mailFolders/drafts/messages')).json()) as { value: { id: string }[] }).value
  const onlyId = async () => (await list())[0]?.id
  return {
    drafts: box.mail.drafts(box.access, graph.folderId(user, 'drafts')),
    async raws() {
      const responses = await Promise.all((await list()).map(({ id }) => call('GET', `/messages/${id}/$value`)))
      return Promise.all(responses.map(async (response) => Buffer.from(await response.arrayBuffer())))
    },
    async write(raw) {
      const providerMessageId = await graph.deliver(user, raw, { folder: 'drafts', draft: true })
      return { ...NO_LOCATION, draftId: null, providerMessageId }
    },
    async edit(subject) {
      const body = { contentType: 'text', content: subject }
      await call('PATCH', `/messages/${await onlyId()}`, { subject, body })
    },
    remove: async () => void (await call('DELETE', `/messages/${await onlyId()}`)),
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}
