import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { linkedContentIds, MAX_CONTENT_LINK } from '../body/content-links.ts'
import { transferDecoder } from '../decoding/transfer-decoding.ts'
import { bodyParts, leaves, pathTo } from './body-parts.ts'
import { edit, REMOVED } from './edit-tree.ts'
import type { MessagePart } from './message-source.ts'
import { type Making, makeMultipart, withChildren } from './write-source.ts'

/**
 * The message with other attachments. The body stays, and so does what belongs to it: its alternatives, such as an invitation, and the
 * images that its HTML shows, unless one of the attachments has their Content-ID. Undefined when nothing is left.
 */
export async function replaceAttachments(
  root: MessagePart,
  attachments: readonly MessagePart[],
  making: Making,
): Promise<MessagePart | undefined> {
  const contentIds = new Set(attachments.map(({ contentId }) => contentId))
  const rest = keepOnly(root, await partsOfBody(root, contentIds))
  if (rest === undefined) return attachments.length === 0 ? undefined : mixed(attachments, making)
  const html = bodyParts(rest).find(({ type }) => type === 'text/html')
  const inline = html === undefined ? [] : attachments.filter(({ contentId }) => contentId !== undefined)
  const shown = html === undefined || inline.length === 0 ? rest : addRelated(rest, html, inline, making)
  const others = attachments.filter((attachment) => !inline.includes(attachment))
  return others.length === 0 ? shown : addToMixed(shown, others, making)
}

function keepOnly(root: MessagePart, kept: ReadonlySet<MessagePart>): MessagePart | undefined {
  return edit(root, (part) => {
    if (part.multipart === undefined) return kept.has(part) ? undefined : REMOVED
    if (part.type !== 'multipart/signed') return undefined
    const [signed] = part.multipart.children
    // The signature is for these bytes.
    if (signed === undefined || [...leaves(signed)].every((leaf) => kept.has(leaf))) return part
    return keepOnly(signed, kept) ?? REMOVED
  })
}

/** The leaves that are not attachments. */
async function partsOfBody(
  root: MessagePart,
  contentIds: ReadonlySet<string | undefined>,
): Promise<ReadonlySet<MessagePart>> {
  const body = bodyParts(root)
  const shown = new Set<string>()
  for (const part of body) if (part.type === 'text/html') await addLinkedIds(part, shown)
  const isShown = ({ contentId }: MessagePart) =>
    contentId !== undefined && !contentIds.has(contentId) && shown.has(contentId.toLowerCase())
  return new Set([...body, ...alternatives(root), ...[...leaves(root)].filter(isShown)])
}

function* alternatives({ type, multipart }: MessagePart): Generator<MessagePart> {
  for (const child of multipart?.children ?? []) {
    if (type === 'multipart/alternative' && child.multipart === undefined) yield child
    yield* alternatives(child)
  }
}

const CHUNK = 64 * 1024
const MAX_IDS = 5000

/** Adds the Content-IDs that an HTML part links to. */
async function addLinkedIds({ content = Buffer.alloc(0), encoding }: MessagePart, ids: Set<string>): Promise<void> {
  const decoder = transferDecoder(encoding)
  let rest = ''
  for (let at = 0; at <= content.length && ids.size < MAX_IDS; at += CHUNK) {
    const isLast = at + CHUNK > content.length
    const decoded = decoder.write(content.subarray(at, at + CHUNK)).toString('latin1')
    // UTF-16 has a zero byte beside each of these characters.
    const text = (rest + decoded + (isLast ? decoder.end().toString('latin1') : '')).replaceAll('\0', '')
    for (const id of linkedContentIds(text)) ids.add(id)
    // A link may begin in one chunk and end in the next.
    rest = text.slice(-MAX_CONTENT_LINK)
    await yieldIfHeld(TURN_MS)
  }
}

/** Puts parts beside the HTML that shows them. */
function addRelated(root: MessagePart, html: MessagePart, inline: readonly MessagePart[], making: Making): MessagePart {
  const related = pathTo(root, html).findLast(({ type }) => type === 'multipart/related')
  const added = edit(root, (part) => {
    if (part !== (related ?? html)) return undefined
    return related?.multipart === undefined
      ? makeMultipart('multipart/related', [html, ...inline], making)
      : withChildren(related, [...related.multipart.children, ...inline])
  })
  return added ?? root
}

function addToMixed(root: MessagePart, attachments: readonly MessagePart[], making: Making): MessagePart {
  if (root.type !== 'multipart/mixed' || root.multipart === undefined) return mixed([root, ...attachments], making)
  return withChildren(root, [...root.multipart.children, ...attachments])
}

function mixed(parts: readonly MessagePart[], making: Making): MessagePart {
  return makeMultipart('multipart/mixed', parts, making)
}
