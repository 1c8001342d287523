import type { Availability, BookingForm, CallbackEndpoint, Experience } from '../../api/types.ts'

/** The members that the editor changes, as the API takes them. Members that the editor does not know stay as they are. */
export interface Draft {
  name: string
  description: string
  timezone: string
  isActive: boolean
  defaultAccountIds: string[]
  metadata: Record<string, unknown>
  availability: Availability | null
  availabilityEndpoint: CallbackEndpoint | null
  bookingEndpoint: CallbackEndpoint | null
  routingEndpoint: CallbackEndpoint | null
  bookingForm: BookingForm | null
  ui: Record<string, unknown> | null
  allowedOrigins: string[]
}

export interface PartProps {
  draft: Draft
  set(changes: Partial<Draft>): void
}

export function toDraft(experience: Experience): Draft {
  const { id, slug, bookingUrl, callbackSecret, createdAt, updatedAt, ...draft } = experience
  return { ...draft, ui: draft.ui === null ? null : { ...draft.ui } }
}

/** The object with these members; undefined ones are removed. */
export function changed<Value extends object>(
  value: Value,
  changes: { [Name in keyof Value]?: Value[Name] | undefined },
): Value {
  const next: Record<string, unknown> = { ...value, ...changes }
  for (const [name, member] of Object.entries(next)) if (member === undefined) delete next[name]
  return next as Value
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** The list with one item moved. */
export function withMoved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const next = [...items]
  const [item] = next.splice(from, 1)
  if (item !== undefined) next.splice(to, 0, item)
  return next
}
