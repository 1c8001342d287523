import type { Account } from '../../api/types.ts'
import { Status, type Tone } from '../../parts/status.tsx'

export const STATUSES: Record<Account['status'], { label: string; tone: Tone }> = {
  connecting: { label: 'First sync', tone: 'busy' },
  syncing: { label: 'Syncing', tone: 'busy' },
  connected: { label: 'Connected', tone: 'good' },
  auth_error: { label: 'Sign-in needed', tone: 'bad' },
  error: { label: 'Cannot sync', tone: 'warn' },
  paused: { label: 'Paused', tone: 'quiet' },
}

export const PROVIDERS: Record<Account['provider'], string> = { gmail: 'Gmail', microsoft: 'Microsoft', imap: 'IMAP' }

export function AccountStatus({ status }: { status: Account['status'] }) {
  const { label, tone } = STATUSES[status]
  return <Status tone={tone}>{label}</Status>
}
