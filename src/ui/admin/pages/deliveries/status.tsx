import type { Delivery } from '../../api/types.ts'
import { Status, type Tone } from '../../parts/status.tsx'

export const STATUSES: Record<Delivery['status'], { label: string; tone: Tone }> = {
  success: { label: 'Delivered', tone: 'good' },
  pending: { label: 'Pending', tone: 'busy' },
  retrying: { label: 'Retrying', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
  deduplicated: { label: 'Duplicate', tone: 'quiet' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

export function DeliveryStatus({ status }: { status: Delivery['status'] }) {
  const { label, tone } = STATUSES[status]
  return <Status tone={tone}>{label}</Status>
}
