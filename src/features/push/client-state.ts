import { createHash, timingSafeEqual } from 'node:crypto'

/** As it is stored: what proves a notice is known to the provider only. */
export function hashOf(clientState: string): string {
  return createHash('sha256').update(clientState).digest('base64url')
}

/** Compares in constant time. */
export function isProof(clientState: string | null | undefined, storedHash: string | null): boolean {
  if (typeof clientState !== 'string' || storedHash === null) return false
  const [given, stored] = [Buffer.from(hashOf(clientState)), Buffer.from(storedHash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
