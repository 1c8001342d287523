import { compiledOnce, type Handle } from '../../platform/db/index.ts'

export interface DeduplicationConfig {
  enabled: boolean
  keyFields: string[]
  /** How long an event suppresses others with the same key. */
  ttlSeconds: number
}

const findConfig = compiledOnce((handle) => handle.selectFrom('deduplicationConfig').selectAll().where('id', '=', 1))

/** The settings of all replicas. */
interface DeduplicationStore {
  config(): Promise<DeduplicationConfig>
  /** Changes the given settings and returns all of them. */
  configure(changes: Partial<DeduplicationConfig>): Promise<DeduplicationConfig>
}

export function deduplicationStore(handle: Handle): DeduplicationStore {
  return {
    async config() {
      const [row] = await findConfig(handle)
      if (row === undefined) throw new Error('the row of deduplicationConfig is missing')
      return { enabled: row.enabled === 1, keyFields: JSON.parse(row.keyFields), ttlSeconds: row.ttlSeconds }
    },
    async configure({ enabled, keyFields, ttlSeconds }) {
      const changes = {
        ...(enabled !== undefined && { enabled: Number(enabled) }),
        ...(keyFields !== undefined && { keyFields: JSON.stringify(keyFields) }),
        ...(ttlSeconds !== undefined && { ttlSeconds: Math.round(ttlSeconds) }),
      }
      if (Object.keys(changes).length > 0) {
        await handle.updateTable('deduplicationConfig').set(changes).where('id', '=', 1).execute()
      }
      return this.config()
    },
  }
}
