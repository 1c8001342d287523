import type { OutboxMessage } from '../../api/types.ts'
import { Status, type Tone } from '../../parts/status.tsx'

export const STATUSES: Record<OutboxMessage['status'], { label: string; tone: Tone }> = {
  scheduled: { label: 'Scheduled', tone: 'quiet' },
  queued: { label: 'Waiting', tone: 'busy' },
  sending: { label: 'Sending', tone: 'busy' },
  sent: { label: 'Sent', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  uncertain: { label: 'Uncertain', tone: 'warn' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

export function OutboxStatus({ status }: { status: OutboxMessage['status'] }) {
  const { label, tone } = STATUSES[status]
  return <Status tone={tone}>{label}</Status>
}
