/**
 * The messages between an embedding page and the frame `/embed/{slug}`. Version 1 is frozen: later versions may add messages,
 * and never change these. Each is an object whose `type` is `posthorn:v1:<name>`; docs/embedding.md lists their members.
 */
const PREFIX = 'posthorn:v1:'

/** From the frame to the page. */
export const FROM_FRAME = ['ready', 'resize', 'slot-selected', 'booked', 'error', 'redirect', 'close'] as const
/** From the page to the frame. */
export const FROM_PAGE = ['prefill', 'theme'] as const

export type FrameMessage = (typeof FROM_FRAME)[number]

export const THEMES = ['light', 'dark', 'auto']

export function buildMessage<Name extends string>(name: Name, members: object = {}): { type: string } {
  return { ...members, type: `${PREFIX}${name}` }
}

/** Undefined for anything but one of these messages. */
export function readMessage<Name extends string>(
  data: unknown,
  names: readonly Name[],
): { name: Name; members: Readonly<Record<string, unknown>> } | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const members = data as Record<string, unknown>
  const name = names.find((candidate) => members.type === PREFIX + candidate)
  return name === undefined ? undefined : { name, members }
}
