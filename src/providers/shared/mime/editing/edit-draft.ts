import { type DraftChange, ProviderError } from '../../../contract/index.ts'
import { composeMessage } from '../compose.ts'
import { allParts, bodyParts, isEncrypted, isUnreadable, leaves, pathTo } from './body-parts.ts'
import { renameUsed, unusedBoundaries } from './boundaries.ts'
import { edit } from './edit-tree.ts'
import { type Field, type MessagePart, type MessageSource, readSource } from './message-source.ts'
import { replaceAttachments } from './replace-attachments.ts'
import { type NewBody, replaceBody } from './replace-body.ts'
import { type Making, newField, replaceField, writeSource } from './write-source.ts'

/**
 * The next version of a draft, from the bytes of the current one. What `change` does not name stays the same bytes, in the same order:
 * header fields, parts and their header fields. `Date` is always replaced; `addsMessageId` for a draft without a Message-ID. Throws
 * `ProviderError` for a draft that cannot be changed without losing something.
 */
export async function editDraft(
  source: Buffer,
  change: DraftChange,
  { addsMessageId }: { addsMessageId: boolean },
): Promise<Buffer> {
  const read = await readSource(source)
  if (read === undefined) throw unsupported('it has more parts or header fields than a message may have')
  const composed = await composeChange(change)
  const { root, lineEnd } = read
  const edited = await editContent(read, source, change, composed)
  const named = namedFields(change, addsMessageId)
  const fields = named.reduce<readonly Field[]>(
    (all, name) => replaceField(all, name, candidate(composed.root, name, lineEnd)),
    edited === undefined ? root.fields : withContentFields(root.fields, edited, lineEnd),
  )
  return writeSource({ root: { ...(edited ?? root), fields }, lineEnd })
}

function unsupported(why: string): ProviderError {
  const message = `saving a draft: ${why}. Change other fields of it, or save a new draft.`
  return new ProviderError('rejected', message, { unsupported: true })
}

/** The new members as a message of their own, from which the draft takes them. */
async function composeChange({ from, to, cc, bcc, subject, body, attachments, messageId, date }: DraftChange) {
  const raw = await composeMessage(
    {
      from: from ?? { name: '', email: '' },
      to: to ?? [],
      cc: cc ?? [],
      bcc: bcc ?? [],
      replyTo: [],
      subject: subject ?? '',
      text: body === undefined ? '' : body.text,
      html: body?.html ?? null,
      attachments: attachments ?? [],
      messageId,
      inReplyTo: null,
      references: [],
      date,
      sentToken: null,
      headers: [],
    },
    { keepBcc: true },
  )
  const read = await readSource(raw)
  if (read === undefined) throw unsupported('its attachments have more parts than a message may have')
  return read
}

/** The content with another body or other attachments. Undefined when the change names neither. */
async function editContent(
  { root, lineEnd }: MessageSource,
  source: Buffer,
  { body, attachments }: DraftChange,
  composed: MessageSource,
): Promise<MessagePart | undefined> {
  if (body === undefined && attachments === undefined) return undefined
  const { newBody, files } = composedParts(composed.root)
  const contents = [newBody.plain, newBody.html ?? [], files].flat().flatMap(({ content }) => content ?? [])
  const making: Making = { newBoundary: await unusedBoundaries([source, ...contents]), lineEnd }
  let edited: MessagePart | undefined = withoutMessageFields(root)
  if (body !== undefined) {
    if (isUnreadable(root) && !isEncrypted(root))
      throw unsupported('its parts cannot be read, so its body cannot change')
    edited = replaceBody(unsigned(edited), newBody, making)
  }
  if (attachments !== undefined) {
    const unreadable = [...allParts(edited)].find((part) => isUnreadable(part) || isEncrypted(part))
    if (unreadable !== undefined)
      throw unsupported('it is encrypted or cannot be read, so its attachments cannot change')
    edited = await replaceAttachments(edited, files, making)
  }
  return renameUsed(edited ?? newBody.plain, contents, making.newBoundary)
}

/** The parts of a message of `composeMessage`. */
function composedParts(root: MessagePart): { newBody: NewBody; files: MessagePart[] } {
  const texts = bodyParts(root).map(withoutMessageFields)
  const [plain = withoutMessageFields(root)] = texts
  const html = texts.find(({ type }) => type === 'text/html')
  const contents = texts.map(({ content }) => content)
  return { newBody: { plain, html }, files: [...leaves(root)].filter(({ content }) => !contents.includes(content)) }
}

function isContentField({ name }: Field): boolean {
  return name.startsWith('content-')
}

function withoutMessageFields(part: MessagePart): MessagePart {
  return { ...part, fields: part.fields.filter(isContentField) }
}

/** A signature does not cover the new body, so only what was signed stays. */
function unsigned(root: MessagePart): MessagePart {
  const path = pathTo(root, bodyParts(root)[0] ?? root)
  const edited = edit(root, (part) => {
    const [signed] = part.multipart?.children ?? []
    return part.type === 'multipart/signed' && path.includes(part) ? signed && unsigned(signed) : undefined
  })
  return edited ?? root
}

/** Fields that describe the bytes of the content. */
const OF_CONTENT = ['content-length', 'content-md5', 'lines']

/** The fields of the message with the content fields of its new content, where the earlier ones were. */
function withContentFields(fields: readonly Field[], { fields: own }: MessagePart, lineEnd: string): Field[] {
  const kept = fields.filter(({ name }) => !OF_CONTENT.includes(name))
  const content = own.filter((field) => isContentField(field) && !OF_CONTENT.includes(field.name))
  const before = kept.filter(isContentField)
  if (content.length === before.length && content.every((field, index) => field === before[index])) return kept
  const first = kept.findIndex(isContentField)
  const end = first === -1 ? kept.length : first
  const others = (some: readonly Field[]) => some.filter((field) => !isContentField(field))
  const version = kept.some(({ name }) => name === 'mime-version') ? [] : [newField('MIME-Version', '1.0', lineEnd)]
  return [...others(kept.slice(0, end)), ...version, ...content, ...others(kept.slice(end))]
}

function namedFields({ from, to, cc, bcc, subject }: DraftChange, addsMessageId: boolean): string[] {
  const names = ['date']
  if (addsMessageId) names.push('message-id')
  if (from !== undefined) names.push('from')
  if (to !== undefined) names.push('to')
  if (cc !== undefined) names.push('cc')
  if (bcc !== undefined) names.push('bcc')
  if (subject !== undefined) names.push('subject')
  return names
}

function candidate({ fields }: MessagePart, name: string, lineEnd: string): Field | undefined {
  const field = fields.find((findField) => findField.name === name)
  return field && { name, bytes: Buffer.from(field.bytes.toString('latin1').replaceAll('\r\n', lineEnd), 'latin1') }
}
