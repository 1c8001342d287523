import { ROOT } from '../../api/client.ts'
import type { Connection } from '../../api/types.ts'
import { Status } from '../../parts/status.tsx'

export const PROVIDERS: Record<Connection['provider'], string> = {
  microsoft: 'Microsoft 365',
  gmail: 'Google Workspace',
}

export const GUIDE = new URL('docs/connecting#mailboxes-of-a-whole-organisation', ROOT).href
/** What an administrator of the organisation does at the provider. */
export const ADMIN_GUIDES: Record<Connection['provider'], string> = {
  microsoft: new URL('docs/providers#microsoft-tenants', ROOT).href,
  gmail: new URL('docs/providers#google-workspaces', ROOT).href,
}

export function ConnectionStatus({ status }: Pick<Connection, 'status'>) {
  return status === 'connected' ? <Status tone="good">Connected</Status> : <Status tone="bad">Refused</Status>
}

export function accountsText(count: number): string {
  return count === 1 ? '1 account' : `${count.toLocaleString()} accounts`
}
