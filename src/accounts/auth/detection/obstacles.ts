import type { Detection } from './detection.ts'
import { knownServer } from './known-servers.ts'

/** Why no password can open a mailbox. */
interface Obstacle {
  /** Display name of the provider. */
  name: string
  kind: 'no passwords' | 'bridge'
  /** False when the user may know better: MX records can name a filter before another server, and a bridge runs anywhere. */
  isCertain: boolean
}

/** Undefined when a password may work. Never throws, and takes as long as `detectProvider`. */
export async function obstacleFor(detection: Detection, email: string): Promise<Obstacle | undefined> {
  const server = knownServer(email)
  if (server?.requirement === 'bridge') return { name: server.name, kind: 'bridge', isCertain: false }
  if (server?.requirement === 'no passwords') return { name: server.name, kind: 'no passwords', isCertain: true }
  if (server !== undefined || (await detection.detectProvider(email)) !== 'microsoft') return undefined
  return { name: 'Microsoft 365', kind: 'no passwords', isCertain: false }
}
