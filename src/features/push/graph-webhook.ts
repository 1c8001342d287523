import { createHash, timingSafeEqual } from 'node:crypto'

export const NOTIFICATIONS_PATH = '/providers/microsoft/notifications'
export const LIFECYCLE_PATH = `${NOTIFICATIONS_PATH}/lifecycle`

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/

/** The URLs for Graph's notifications. Undefined unless `publicUrl` is https and not a loopback address. */
export function webhookTarget(publicUrl: string): { url: string; lifecycleUrl: string } | undefined {
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol !== 'https:' || LOOPBACK.test(hostname)) return undefined
  return { url: `${publicUrl}${NOTIFICATIONS_PATH}`, lifecycleUrl: `${publicUrl}${LIFECYCLE_PATH}` }
}

/** SHA-256 of a subscription's client state, the secret that Graph returns with every notification; base64url. */
export function hashClientState(clientState: string): string {
  return createHash('sha256').update(clientState).digest('base64url')
}

/** Compares in constant time. */
export function isClientState(clientState: string | null | undefined, storedHash: string | null): boolean {
  if (typeof clientState !== 'string' || storedHash === null) return false
  const [given, stored] = [Buffer.from(hashClientState(clientState)), Buffer.from(storedHash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
