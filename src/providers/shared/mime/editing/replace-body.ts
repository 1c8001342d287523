import { bodyParts, isEncrypted, leaves, pathTo } from './body-parts.ts'
import { edit, REMOVED, without } from './edit-tree.ts'
import type { MessagePart } from './message-source.ts'
import { type Making, makeMultipart, withChildren } from './write-source.ts'

/** The parts of a new body. */
export interface NewBody {
  plain: MessagePart
  html: MessagePart | undefined
}

/**
 * The message with another body. The new parts come where the first text of the earlier body is; its other texts are removed, and so are
 * alternatives that only render it. Every other part stays.
 */
export function replaceBody(root: MessagePart, body: NewBody, making: Making): MessagePart {
  if (isEncrypted(root)) return wholeBody(body, making)
  const replaced = bodyParts(root)
  const [first] = replaced
  if (first === undefined) return prepend(root, wholeBody(body, making), making)
  const path = pathTo(root, first)
  const site = path.find(({ type }) => type === 'multipart/alternative') ?? first
  const edited = edit(root, (part) => {
    if (part === site)
      return part === first ? replacePart(first, wholeBody(body, making)) : alternatives(part, replaced, body)
    return replaced.includes(part) ? REMOVED : undefined
  })
  return edited ?? wholeBody(body, making)
}

function wholeBody({ plain, html }: NewBody, making: Making): MessagePart {
  if (html === undefined) return plain
  return makeMultipart('multipart/alternative', [plain, html], making)
}

/** Keeps the Content-ID, by which a multipart/related may name the part. */
function replacePart(earlier: MessagePart, part: MessagePart): MessagePart {
  const kept = earlier.fields.filter(({ name }) => name === 'content-id')
  return kept.length === 0 ? part : { ...part, fields: [...part.fields, ...kept], contentId: earlier.contentId }
}

/** Other renderings of a body. They would show the earlier one. */
const RENDERINGS = new Set([
  'text/x-amp-html',
  'text/watch-html',
  'text/enriched',
  'text/richtext',
  'text/rtf',
  'application/rtf',
])

/** A multipart/alternative with another body. Parts that are not the body, such as an invitation, stay. */
function alternatives(part: MessagePart, replaced: readonly MessagePart[], body: NewBody): MessagePart {
  const branches = (part.multipart?.children ?? []).filter(({ type }) => !RENDERINGS.has(type))
  const { plain, html } = body
  if (html === undefined) return plainOnly(part, branches, replaced, plain)
  return withChildren(part, plainAndHtml(branches, replaced, { plain, html }))
}

function plainOnly(
  part: MessagePart,
  branches: readonly MessagePart[],
  replaced: readonly MessagePart[],
  plain: MessagePart,
): MessagePart {
  const edited = branches.flatMap((branch) => putInto(branch, replaced, plain) ?? [])
  // A branch with images for the earlier HTML shows the text with them.
  const isTextAlone = (branch: MessagePart) => branch.multipart === undefined && branch.content === plain.content
  const hasRicher = edited.some((branch) => !isTextAlone(branch) && [...leaves(branch)].some(isTextAlone))
  const firstText = edited.findIndex(isTextAlone)
  const kept = edited.filter((branch, index) => !isTextAlone(branch) || (index === firstText && !hasRicher))
  const [only, second] = kept
  return only !== undefined && second === undefined ? only : withChildren(part, kept)
}

function plainAndHtml(
  branches: readonly MessagePart[],
  replaced: readonly MessagePart[],
  { plain, html }: { plain: MessagePart; html: MessagePart },
): MessagePart[] {
  const has = (branch: MessagePart, type: string) =>
    [...leaves(branch)].some((leaf) => leaf.type === type && replaced.includes(leaf))
  const htmlBranch = branches.findLast((branch) => has(branch, 'text/html'))
  const plainBranch = branches.find((branch) => branch !== htmlBranch && has(branch, 'text/plain'))
  return branches.flatMap((branch) => {
    if (branch === htmlBranch) {
      const shown = putInto(branch, replaced, html) ?? []
      return plainBranch === undefined ? [plain, shown].flat() : shown
    }
    if (branch === plainBranch) {
      const shown = putInto(branch, replaced, plain) ?? []
      return htmlBranch === undefined ? [shown, html].flat() : shown
    }
    return without(branch, (part) => replaced.includes(part)) ?? []
  })
}

/** The branch with a text in place of its first text of the same type, or of its first one. Its other texts are removed. */
function putInto(branch: MessagePart, replaced: readonly MessagePart[], text: MessagePart): MessagePart | undefined {
  const own = [...leaves(branch)].filter((leaf) => replaced.includes(leaf))
  const place = own.find(({ type }) => type === text.type) ?? own[0]
  return edit(branch, (part) => {
    if (part === place) return replacePart(part, text)
    return own.includes(part) ? REMOVED : undefined
  })
}

/** The message with another part before all others. */
function prepend(root: MessagePart, part: MessagePart, making: Making): MessagePart {
  if (root.type === 'multipart/mixed' && root.multipart !== undefined) {
    return withChildren(root, [part, ...root.multipart.children])
  }
  return makeMultipart('multipart/mixed', [part, root], making)
}
