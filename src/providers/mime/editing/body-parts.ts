import type { MessagePart } from './message-source.ts'

/**
 * The parts that mail programs show as the body, in order (RFC 8621 4.1.4): texts that are not attachments; in an alternative all of
 * them, in a related the part that it is about. A text with a name is an attachment, unless it is the first part or the only text.
 */
export function bodyParts(root: MessagePart): MessagePart[] {
  const shown = [...shownTexts(root, { parentType: '', index: 0 })]
  if (shown.length > 0) return shown
  const texts = [...leaves(root)].filter((leaf) => isText(leaf) && leaf.disposition !== 'attachment')
  return texts.length === 1 ? texts : []
}

function* shownTexts(part: MessagePart, at: { parentType: string; index: number }): Generator<MessagePart> {
  const { type, multipart } = part
  if (multipart === undefined) {
    if (isShown(part, at)) yield part
    return
  }
  if (isEncrypted(part)) return
  const children = type === 'multipart/related' ? [relatedRoot(part) ?? []].flat() : multipart.children
  for (const [index, child] of children.entries()) yield* shownTexts(child, { parentType: type, index })
}

function isShown(part: MessagePart, { parentType, index }: { parentType: string; index: number }): boolean {
  if (!isText(part) || part.disposition === 'attachment') return false
  return index === 0 || parentType === 'multipart/alternative' || !part.isNamed
}

function isText({ type }: MessagePart): boolean {
  return type === 'text/plain' || type === 'text/html'
}

/** The part that a multipart/related shows; the others are for it. */
export function relatedRoot({ multipart }: MessagePart): MessagePart | undefined {
  const { children = [], start } = multipart ?? {}
  return children.find(({ contentId }) => start !== undefined && contentId === start) ?? children[0]
}

export function isEncrypted({ type }: MessagePart): boolean {
  return type === 'multipart/encrypted' || /^application\/(x-)?pkcs7-mime$/.test(type)
}

/** Whether the parts of a multipart cannot be found in its bytes. */
export function isUnreadable({ type, multipart }: MessagePart): boolean {
  return type.startsWith('multipart/') && multipart === undefined
}

/** A part and all parts within it, in order. */
export function* allParts(part: MessagePart): Generator<MessagePart> {
  yield part
  for (const child of part.multipart?.children ?? []) yield* allParts(child)
}

/** The parts without parts, in order. */
export function* leaves(root: MessagePart): Generator<MessagePart> {
  for (const part of allParts(root)) if (part.multipart === undefined) yield part
}

/** The parts that contain `wanted`, from the outermost one on, and itself. Empty when it is not within `part`. */
export function pathTo(part: MessagePart, wanted: MessagePart): MessagePart[] {
  if (part === wanted) return [part]
  for (const child of part.multipart?.children ?? []) {
    const path = pathTo(child, wanted)
    if (path.length > 0) return [part, ...path]
  }
  return []
}
