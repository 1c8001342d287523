import { createHash } from 'node:crypto'
import { type AddressObject, simpleParser } from 'mailparser'
import PostalMime, { type Address } from 'postal-mime'
import { decodedContent, readMessage } from '../../src/providers/shared/mime/index.ts'

/** A message as a reader understands it. A member that the reader does not offer is undefined. */
export interface Reading {
  subject?: string | null
  from?: { name: string; email: string } | null
  to?: string[] | null
  /** Ids with or without angle brackets. */
  messageId?: string | null
  inReplyTo?: string | null
  references?: string[]
  /** RFC 3339 in UTC. */
  date?: string | null
  text?: string | null
  html?: string | null
  /** Name and SHA-1 of the content, whether or not the body shows it. */
  files?: [name: string | null, sha1: string][] | null
}

export type Reader = (message: Buffer) => Promise<Reading>

const sha1 = (content: Uint8Array) => createHash('sha1').update(content).digest('hex')

export async function readByPosthorn(message: Buffer): Promise<Reading> {
  const { fields, body, attachments, find } = await readMessage(message)
  const { subject, from, to, messageId, inReplyTo, references, date } = fields
  return {
    subject,
    from,
    to: to.map(({ email }) => email),
    messageId,
    inReplyTo,
    references,
    date: date === null ? null : new Date(date).toISOString(),
    ...body,
    files: attachments.map(({ id, filename }) => {
      const { part, content } = find(id) ?? {}
      return [filename, part && content ? sha1(decodedContent(content, part.encoding)) : '']
    }),
  }
}

/** It offers References as the text of the field. */
export async function readByPostalMime(message: Buffer): Promise<Reading> {
  const read = await PostalMime.parse(message, { forceRfc822Attachments: true })
  const mailboxes = (list: Address[] = []) => list.flatMap((entry) => entry.group ?? [entry])
  const from = read.from === undefined ? undefined : mailboxes([read.from]).find(({ address }) => address)
  return {
    subject: read.subject ?? '',
    from: from === undefined ? null : { name: from.name, email: from.address ?? '' },
    to: mailboxes(read.to).map(({ address }) => address ?? ''),
    messageId: read.messageId ?? null,
    inReplyTo: read.inReplyTo ?? null,
    date: moment(read.date),
    text: read.text ?? null,
    html: read.html ?? null,
    files: read.attachments.map(({ filename, content }) => [filename, sha1(Buffer.from(content as ArrayBuffer))]),
  }
}

/** It gives a text that is no date as it is. */
function moment(date: string | undefined): string | null {
  const ms = Date.parse(date ?? '')
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

export async function readByMailparser(message: Buffer): Promise<Reading> {
  const read = await simpleParser(message, { skipImageLinks: true })
  const mailboxes = (field: AddressObject | AddressObject[] | undefined) =>
    [field ?? []].flat().flatMap(({ value }) => value.flatMap((entry) => entry.group ?? [entry]))
  const from = mailboxes(read.from).find(({ address }) => address)
  return {
    subject: read.subject ?? '',
    from: from === undefined ? null : { name: from.name, email: from.address ?? '' },
    to: mailboxes(read.to).map(({ address }) => address ?? ''),
    messageId: read.messageId ?? null,
    inReplyTo: read.inReplyTo ?? null,
    references: [read.references ?? []].flat(),
    date: read.date === undefined || Number.isNaN(read.date.getTime()) ? null : read.date.toISOString(),
    text: read.text ?? null,
    html: read.html || null,
    files: read.attachments.map(({ filename, content }) => [filename ?? null, sha1(content)]),
  }
}
