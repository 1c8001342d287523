import { timingSafeEqual } from 'node:crypto'
import { sha256 } from './sha256.ts'

/** SHA-256 of the secret that a provider returns with every notification of a subscription; base64url. */
export function hashClientState(clientState: string): string {
  return sha256(clientState, 'base64url')
}

/** Compares in constant time. */
export function isClientState(clientState: string | null | undefined, storedHash: string | null): boolean {
  if (typeof clientState !== 'string' || storedHash === null) return false
  const [hashed, stored] = [Buffer.from(hashClientState(clientState)), Buffer.from(storedHash)]
  return hashed.length === stored.length && timingSafeEqual(hashed, stored)
}
