/** Placeholder shape; the house fills it: every setting once, with name, type, default, secrecy and a sentence. */
export interface Config {
  port: number
  host: string
  dataDir: string
  publicUrl: string
  databaseUrl: string | undefined
  autoApplyMigrations: boolean
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  serviceApiKey: string | undefined
  adminUsername: string
  adminPassword: string | undefined
  encryptionKeys: string | undefined
  redirectUrl: string | undefined
  privateTargets: string
  trustedProxies: string[]
  production: boolean
  syncInitialMessages: number
  syncFolders: string[]
}
