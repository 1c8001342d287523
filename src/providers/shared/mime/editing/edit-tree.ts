import { leaves, relatedRoot } from './body-parts.ts'
import type { MessagePart } from './message-source.ts'
import { withChildren } from './write-source.ts'

export const REMOVED = Symbol('removed')

/** A copy of a tree. `replacement` returns another part for one, `REMOVED`, or undefined for one that stays, of which it sees the parts. */
export function edit(
  part: MessagePart,
  replacement: (part: MessagePart) => MessagePart | typeof REMOVED | undefined,
): MessagePart | undefined {
  const replaced = replacement(part)
  if (replaced === REMOVED) return undefined
  if (replaced !== undefined) return replaced
  if (part.multipart === undefined) return part
  const children = part.multipart.children.flatMap((child) => edit(child, replacement) ?? [])
  return children.length === 0 ? undefined : asMixed(part, withChildren(part, children))
}

/** The tree without some of its parts, and without multiparts that contain nothing else. */
export function without(root: MessagePart, isRemoved: (part: MessagePart) => boolean): MessagePart | undefined {
  return edit(root, (part) => (isRemoved(part) ? REMOVED : undefined))
}

/** Without its HTML, a multipart/related becomes a multipart/mixed: programs hide what is for a part that does not use it. */
function asMixed(before: MessagePart, after: MessagePart): MessagePart {
  if (after === before || before.type !== 'multipart/related') return after
  const root = relatedRoot(before)
  const wasHtml = root !== undefined && [...leaves(root)].some(({ type }) => type === 'text/html')
  const isHtml = [...leaves(after)].some(({ type }) => type === 'text/html')
  if (!wasHtml || isHtml) return after
  const fields = after.fields.map((field) => {
    if (field.name !== 'content-type') return field
    const text = field.bytes.toString('latin1').replace(/multipart\/related/i, 'multipart/mixed')
    return { ...field, bytes: Buffer.from(text, 'latin1') }
  })
  return { ...after, type: 'multipart/mixed', fields }
}
