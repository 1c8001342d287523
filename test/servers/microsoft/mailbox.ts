import { randomBytes } from 'node:crypto'
import PostalMime, { type Address } from 'postal-mime'
import { plainText } from '../fake/mime.ts'
import type { Emulator, FolderRow, MessageRow, Person } from './emulator.ts'

const WELL_KNOWN: Record<string, string> = {
  msgfolderroot: 'Top of Information Store',
  inbox: 'Inbox',
  sentitems: 'Sent Items',
  drafts: 'Drafts',
  archive: 'Archive',
  deleteditems: 'Deleted Items',
  junkemail: 'Junk Email',
  outbox: 'Outbox',
  recoverableitemsdeletions: 'Deletions',
}
/** Beside the root folder, so that no list contains it. */
const UNLISTED = 'recoverableitemsdeletions'

export interface MailChange {
  user: string
  id: string
  type: 'created' | 'updated' | 'deleted'
  /** Folder before and after the change; null before creation and after deletion. */
  from: string | null
  to: string | null
  /** The mutable id before the change. */
  wasId: string
  /** Only `isRead` changed. */
  readOnly: boolean
}

interface Extra {
  raw: Buffer
  text: string
  flagged: boolean
  moves: number
  /** A draft created from MIME: Exchange transfers that, whatever attachments are added later. */
  isMime: boolean
  /** MAPI properties that came with the MIME, or that a client has set, by id. */
  properties: Map<string, string>
}

interface NewAttachment {
  name: string
  contentType: string
  content: Buffer
  isInline: boolean
  contentId: string | null
}

/** The messages and folders of every user: the emulator's rows, plus the fields it has no columns for. */
export type Mailboxes = ReturnType<typeof mailboxes>

export function mailboxes(
  emulator: Emulator,
  changed: (change: MailChange) => void,
  foldersChanged: (user: string, id: string) => void,
) {
  const { microsoft } = emulator
  const extras = new Map<string, Extra>()

  const folders = (user: string): FolderRow[] => microsoft.mailFolders.findBy('user_email', user)
  const folder = (user: string, idOrName: string): FolderRow | undefined =>
    folders(user).find(({ microsoft_id, well_known_name }) => microsoft_id === idOrName || well_known_name === idOrName)
  const messages = (user: string): MessageRow[] => microsoft.messages.findBy('user_email', user)
  const extra = (id: string) => {
    const found = extras.get(id)
    if (!found) throw new Error(`Message ${id} does not exist.`)
    return found
  }
  /** The mutable id, which changes with every move. The row's id is the immutable one. */
  const movingId = (id: string): string => `AAMk${Buffer.from(`${id}/${extra(id).moves}`).toString('base64url')}`

  function insertFolder(user: string, name: string, parent: string | null, wellKnown: string | null): string {
    const id = `AAMkF${randomBytes(15).toString('base64url')}`
    microsoft.mailFolders.insert({
      microsoft_id: id,
      user_email: user,
      display_name: name,
      parent_folder_id: parent,
      child_folder_count: 0,
      well_known_name: wellKnown,
      is_hidden: false,
    })
    foldersChanged(user, id)
    return id
  }

  function insertAttachment(user: string, id: string, attachment: NewAttachment): string {
    const { name, contentType, content, isInline, contentId } = attachment
    const microsoft_id = `AAMkA${randomBytes(15).toString('base64url')}`
    microsoft.attachments.insert({
      microsoft_id,
      message_microsoft_id: id,
      user_email: user,
      name,
      content_type: contentType,
      size: content.length,
      content_bytes: content.toString('base64'),
      is_inline: isInline,
      content_id: contentId,
    })
    return microsoft_id
  }

  /** Throws for a message that this user does not have. */
  function row(user: string, id: string): MessageRow {
    const found = microsoft.messages.findBy('microsoft_id', id).find(({ user_email }) => user_email === user)
    if (!found) throw new Error(`${user} has no message ${id}.`)
    return found
  }

  function update(user: string, id: string, patch: Partial<MessageRow>, readOnly: boolean) {
    const before = row(user, id)
    const wasId = movingId(id)
    microsoft.messages.update(before.id, { ...patch, last_modified_date_time: new Date().toISOString() })
    const to = patch.parent_folder_id ?? before.parent_folder_id
    if (to !== before.parent_folder_id) extra(id).moves += 1
    changed({ user, id, type: 'updated', from: before.parent_folder_id, to, wasId, readOnly })
  }

  return {
    folders,
    folder,
    messages,
    movingId,
    insertFolder,
    rawOf: (id: string): Buffer => extra(id).raw,
    textOf: (id: string): string => extra(id).text,
    isFlagged: (id: string): boolean => extra(id).flagged,
    /** By its immutable id. */
    wasDeleted: (id: string): boolean => extras.has(id) && microsoft.messages.findBy('microsoft_id', id).length === 0,
    isMime: (id: string): boolean => extra(id).isMime,
    propertiesOf: (id: string): Map<string, string> => extra(id).properties,

    open(email: string, name: string, tenant?: string) {
      const root = insertFolder(email, WELL_KNOWN.msgfolderroot ?? '', null, 'msgfolderroot')
      for (const [wellKnown, display] of Object.entries(WELL_KNOWN))
        if (wellKnown !== 'msgfolderroot') insertFolder(email, display, wellKnown === UNLISTED ? null : root, wellKnown)
      emulator.seed({ users: [{ email, name, ...(tenant ? { tenant_id: tenant } : {}) }] })
      for (const message of messages(email)) microsoft.messages.delete(message.id)
    },

    /** Resolves a mutable or immutable id to the immutable one; undefined when there is no such message. */
    find(user: string, shownId: string): string | undefined {
      const decoded = shownId.startsWith('AAMk') ? Buffer.from(shownId.slice(4), 'base64url').toString() : shownId
      const [id = '', moves] = decoded.split('/')
      const extra = extras.get(id)
      if (!extra || (moves !== undefined && Number(moves) !== extra.moves)) return undefined
      return microsoft.messages.findBy('microsoft_id', id).some((message) => message.user_email === user)
        ? id
        : undefined
    },

    async deliver(
      user: string,
      raw: Buffer,
      options: { folder: string; date: Date; read: boolean; draft: boolean; mime?: boolean; conversation?: string },
    ): Promise<string> {
      const into = folder(user, options.folder)
      if (!into) throw new Error(`${user} has no folder ${options.folder}`)
      const mail = await PostalMime.parse(raw)
      const id = `AAkAL${randomBytes(24).toString('base64url')}`
      const now = seconds(new Date())
      const linked = `${mail.inReplyTo ?? ''} ${mail.references ?? ''}`.split(/\s+/)
      const thread = messages(user).find((message) => linked.includes(message.internet_message_id))
      const [from] = people(mail.from ? [mail.from] : [])
      const [sender] = people(mail.sender ? [mail.sender] : [])
      const html = mail.html !== undefined && mail.html !== ''
      const text = mail.text ?? plainText(mail.html ?? '')
      const isMime = options.mime ?? false
      const threading = [
        ['String 0x1042', mail.inReplyTo ?? ''],
        ['String 0x1039', mail.references ?? ''],
      ] as const
      const properties = new Map(threading.filter(([, value]) => value !== ''))
      extras.set(id, { raw, text, flagged: false, moves: 0, isMime, properties })
      microsoft.messages.insert({
        microsoft_id: id,
        conversation_id:
          options.conversation ?? thread?.conversation_id ?? `AAQk${randomBytes(16).toString('base64url')}`,
        conversation_index: randomBytes(22).toString('base64'),
        internet_message_id: mail.messageId ?? `<${id}@outlook.test>`,
        user_email: user,
        subject: mail.subject ?? '',
        body_preview: text.replace(/\s+/g, ' ').trim().slice(0, 255),
        body_content_type: html ? 'html' : 'text',
        body_content: (html ? mail.html : mail.text) ?? '',
        from_name: from?.name ?? null,
        from_address: from?.address ?? null,
        sender_name: (sender ?? from)?.name ?? null,
        sender_address: (sender ?? from)?.address ?? null,
        to_recipients: people(mail.to ?? []),
        cc_recipients: people(mail.cc ?? []),
        bcc_recipients: people(mail.bcc ?? []),
        reply_to: people(mail.replyTo ?? []),
        received_date_time: seconds(options.date),
        sent_date_time: mail.date && !Number.isNaN(Date.parse(mail.date)) ? seconds(new Date(mail.date)) : now,
        created_date_time: now,
        last_modified_date_time: now,
        is_draft: options.draft,
        is_read: options.read,
        importance: mail.headers.find(({ key }) => key === 'importance')?.value.toLowerCase() ?? 'normal',
        categories: [],
        parent_folder_id: into.microsoft_id,
        has_attachments: mail.attachments.some(({ disposition }) => disposition !== 'inline'),
        web_link: `https://outlook.live.test/owa/?ItemID=${id}`,
        in_reply_to_microsoft_id: null,
      })
      for (const attachment of mail.attachments) {
        insertAttachment(user, id, {
          name: attachment.filename ?? 'attachment',
          contentType: attachment.mimeType,
          content: Buffer.from(attachment.content as ArrayBuffer),
          isInline: attachment.disposition === 'inline',
          contentId: attachment.contentId?.replace(/^<|>$/g, '') ?? null,
        })
      }
      changed({ user, id, type: 'created', from: null, to: into.microsoft_id, wasId: movingId(id), readOnly: false })
      return id
    },

    /** Changes the content of a draft. */
    rewrite(user: string, id: string, columns: Partial<MessageRow>, text: string) {
      extra(id).text = text
      update(user, id, columns, false)
    },
    setRaw(id: string, raw: Buffer) {
      extra(id).raw = raw
    },
    /** Adds an attachment to a draft. Returns its id. */
    attach(user: string, id: string, attachment: NewAttachment): string {
      const attachmentId = insertAttachment(user, id, attachment)
      update(user, id, { has_attachments: row(user, id).has_attachments || !attachment.isInline }, false)
      return attachmentId
    },
    /** Moves a draft to Sent Items, as it was transferred. */
    send(user: string, id: string, raw: Buffer) {
      extra(id).raw = raw
      const now = seconds(new Date())
      const to = folder(user, 'sentitems')?.microsoft_id ?? ''
      const times = { sent_date_time: now, received_date_time: now }
      update(user, id, { is_draft: false, parent_folder_id: to, ...times }, false)
    },
    markRead: (user: string, id: string, read: boolean) => update(user, id, { is_read: read }, true),
    flag(user: string, id: string, flagged: boolean) {
      extra(id).flagged = flagged
      update(user, id, {}, false)
    },
    categorise: (user: string, id: string, categories: string[]) => update(user, id, { categories }, false),
    move(user: string, id: string, destination: string): boolean {
      const to = folder(user, destination)
      if (to) update(user, id, { parent_folder_id: to.microsoft_id }, false)
      return to !== undefined
    },
    delete(user: string, id: string) {
      const deleted = row(user, id)
      const wasId = movingId(id)
      for (const attachment of microsoft.attachments.findBy('message_microsoft_id', id))
        microsoft.attachments.delete(attachment.id)
      microsoft.messages.delete(deleted.id)
      changed({ user, id, type: 'deleted', from: deleted.parent_folder_id, to: null, wasId, readOnly: false })
    },
    /** Deletes the folder with its messages and child folders. */
    deleteFolder(user: string, id: string) {
      const deleted = folder(user, id)
      if (!deleted) return
      for (const child of folders(user))
        if (child.parent_folder_id === deleted.microsoft_id) this.deleteFolder(user, child.microsoft_id)
      for (const message of messages(user))
        if (message.parent_folder_id === deleted.microsoft_id) this.delete(user, message.microsoft_id)
      microsoft.mailFolders.delete(deleted.id)
      foldersChanged(user, deleted.microsoft_id)
    },
    moveFolder(user: string, id: string, parent: string) {
      const moved = folder(user, id)
      if (!moved) return
      microsoft.mailFolders.update(moved.id, { parent_folder_id: parent })
      foldersChanged(user, moved.microsoft_id)
    },
    renameFolder(user: string, id: string, name: string) {
      const renamed = folder(user, id)
      if (!renamed) return
      microsoft.mailFolders.update(renamed.id, { display_name: name })
      foldersChanged(user, renamed.microsoft_id)
    },
  }
}

/** Graph's message times have a resolution of one second. */
const seconds = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z')

function people(addresses: Address[]): Person[] {
  return addresses
    .flatMap((entry) => entry.group ?? [entry])
    .flatMap(({ name, address }) => (address ? [{ address, ...(name ? { name } : {}) }] : []))
}
