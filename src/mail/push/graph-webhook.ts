export const NOTIFICATIONS_PATH = '/providers/microsoft/notifications'
export const LIFECYCLE_PATH = `${NOTIFICATIONS_PATH}/lifecycle`

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/

/** The URLs for Graph's notifications. Undefined unless `publicUrl` is https and not a loopback address. */
export function webhookTarget(publicUrl: string): { url: string; lifecycleUrl: string } | undefined {
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol !== 'https:' || LOOPBACK.test(hostname)) return undefined
  return { url: `${publicUrl}${NOTIFICATIONS_PATH}`, lifecycleUrl: `${publicUrl}${LIFECYCLE_PATH}` }
}
