import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { generateSigningSecret } from '../platform/crypto/signature.ts'
import { findSecret, writeSecret } from '../platform/secrets/index.ts'

/** The signing secret of this user's `listen`, generated once, so that an application needs to be given it only once. */
export function listenSecret(): string {
  const folder = join(homedir(), '.posthorn')
  const file = join(folder, 'listen-secret')
  const found = findSecret(file)
  if (found !== undefined) return found
  const secret = generateSigningSecret()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeSecret(file, secret)
  return secret
}
