import type { Delivery } from '../api/types.ts'
import { Status, type Tone } from './status.tsx'
import { duration } from './time.tsx'

export const DELIVERY_STATUSES: Record<Delivery['status'], { label: string; tone: Tone }> = {
  success: { label: 'Delivered', tone: 'good' },
  pending: { label: 'Pending', tone: 'busy' },
  retrying: { label: 'Retrying', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
  deduplicated: { label: 'Duplicate', tone: 'quiet' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

export function DeliveryStatus({ status }: { status: Delivery['status'] }) {
  const { label, tone } = DELIVERY_STATUSES[status]
  return <Status tone={tone}>{label}</Status>
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }

const ordinal = (number: number) => `${number}${SUFFIXES[ORDINALS.select(number)] ?? 'th'}`

/** How far a delivery is: "At once", "At the 3rd attempt", "2 of 6 failed". */
export function attemptsText({ status, attempt, maxAttempts }: Delivery): string {
  const last = Math.max(attempt, maxAttempts)
  if (attempt === 0) return 'Not yet'
  if (status === 'success') return attempt === 1 ? 'At once' : `At the ${ordinal(attempt)} attempt`
  return attempt === last
    ? `${attempt === 1 ? 'The only one' : `All ${attempt}`} failed`
    : `${attempt} of ${last} failed`
}

/** From the creation of the delivery until the endpoint accepted it. */
export function latencyText({ createdAt, deliveredAt }: Delivery): string {
  return deliveredAt === null ? '–' : duration(Math.max(1, Date.parse(deliveredAt) - Date.parse(createdAt)))
}
