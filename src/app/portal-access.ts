import type { Config } from '../config/index.ts'

/** How a person signs in to the admin portal. */
interface PortalAccess {
  username: string
  /** Where the password is; never the password. */
  passwordIn: string
}

/** Undefined while the portal is off: a shared database without ADMIN_PASSWORD. */
export function portalAccess(
  config: Pick<Config, 'adminUsername' | 'adminPassword' | 'databaseUrl' | 'dataDir'>,
): PortalAccess | undefined {
  const { adminUsername: username, adminPassword, databaseUrl, dataDir } = config
  if (adminPassword !== undefined) return { username, passwordIn: 'ADMIN_PASSWORD' }
  return databaseUrl === undefined ? { username, passwordIn: `${dataDir}/admin-password` } : undefined
}
