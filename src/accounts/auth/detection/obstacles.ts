import type { Detection } from './detection.ts'
import { knownServer } from './known-servers.ts'

/** Why no password can open a mailbox. */
export interface Obstacle {
  /** Display name of the provider. */
  name: string
  kind: 'no passwords' | 'bridge'
  /** False when the user may know better: MX records can name a filter before another server, and a bridge runs anywhere. */
  isCertain: boolean
}

/** Undefined when a password may work. Never throws, and takes as long as `providerOf`. */
export async function obstacleFor(detection: Detection, email: string): Promise<Obstacle | undefined> {
  const known = knownServer(email)
  if (known?.requirement === 'bridge') return { name: known.name, kind: 'bridge', isCertain: false }
  if (known?.requirement === 'no passwords') return { name: known.name, kind: 'no passwords', isCertain: true }
  if (known !== undefined || (await detection.providerOf(email)) !== 'microsoft') return undefined
  return { name: 'Microsoft 365', kind: 'no passwords', isCertain: false }
}
