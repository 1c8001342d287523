import type { Handle } from '../../infra/db/index.ts'

export interface DeduplicationConfig {
  enabled: boolean
  keyFields: string[]
  /** For how long an event suppresses those with the same key. */
  ttlSeconds: number
}

/** The settings, which all replicas share. */
export interface DeduplicationStore {
  config(): Promise<DeduplicationConfig>
  /** Changes what is given; answers the whole. */
  configure(changes: Partial<DeduplicationConfig>): Promise<DeduplicationConfig>
}

export function deduplicationStore(handle: Handle): DeduplicationStore {
  return {
    async config() {
      const row = await handle
        .selectFrom('deduplicationConfig')
        .selectAll()
        .where('id', '=', 1)
        .executeTakeFirstOrThrow()
      return { enabled: row.enabled === 1, keyFields: JSON.parse(row.keyFields), ttlSeconds: row.ttlSeconds }
    },
    async configure({ enabled, keyFields, ttlSeconds }) {
      const changes = {
        ...(enabled !== undefined && { enabled: Number(enabled) }),
        ...(keyFields !== undefined && { keyFields: JSON.stringify(keyFields) }),
        ...(ttlSeconds !== undefined && { ttlSeconds }),
      }
      if (Object.keys(changes).length > 0) {
        await handle.updateTable('deduplicationConfig').set(changes).where('id', '=', 1).execute()
      }
      return this.config()
    },
  }
}
