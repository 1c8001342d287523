import { bodyPlan } from '../body/body-plan.ts'
import type { Part } from '../tree/part.ts'
import type { MessagePart } from './message-source.ts'

/** The texts of the body, in order, with the alternatives that are not shown. What is shown as a file is none of them. */
export function bodyParts(root: MessagePart): MessagePart[] {
  const sources = new Map<Part, MessagePart>()
  const { files } = bodyPlan(planned(root, sources))
  const attached = new Set(files.map(({ part }) => sources.get(part)))
  const encrypted = new Set([...allParts(root)].filter(isEncrypted).flatMap((part) => [...leaves(part)]))
  return [...leaves(root)].filter((leaf) => isText(leaf) && !attached.has(leaf) && !encrypted.has(leaf))
}

/** A tree of parts for `bodyPlan`. Adds to `sources` what each is made of. */
function planned(part: MessagePart, sources: Map<Part, MessagePart>): Part {
  const children = part.multipart?.children.map((child) => planned(child, sources)) ?? []
  const copy = { ...part, id: '', encodedBytes: 0, sizeBytes: undefined, children }
  sources.set(copy, part)
  return copy
}

function isText({ type }: MessagePart): boolean {
  return type === 'text/plain' || type === 'text/html'
}

/** The part that a multipart/related shows; the others are for it. */
export function relatedRoot({ start, multipart }: MessagePart): MessagePart | undefined {
  const { children = [] } = multipart ?? {}
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
