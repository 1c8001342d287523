export const NOTIFICATIONS_PATH = '/providers/microsoft/notifications'
export const LIFECYCLE_PATH = `${NOTIFICATIONS_PATH}/lifecycle`

const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[::1\])$/

/** Where Graph may tell of changes: undefined unless `publicUrl` is an address that it can reach and trust. */
export function webhookTarget(publicUrl: string): { url: string; lifecycleUrl: string } | undefined {
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol !== 'https:' || LOOPBACK.test(hostname)) return undefined
  return { url: `${publicUrl}${NOTIFICATIONS_PATH}`, lifecycleUrl: `${publicUrl}${LIFECYCLE_PATH}` }
}
