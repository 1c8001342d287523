/**
 * Short-lived values that may disappear at any time, such as rate limit counters. Never the only copy of anything. While the cache
 * is unavailable, `get` finds nothing and `set` does nothing; `delete` and `increment` reject, because callers depend on them.
 */
export interface Cache {
  readonly provider: 'memory' | 'redis'
  get(key: string): Promise<string | undefined>
  set(key: string, value: string, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
  /** Adds 1 to a counter that starts at 0 and expires `ttlMs` after its first increment. Atomic across replicas. */
  increment(key: string, ttlMs: number): Promise<{ count: number; resetInMs: number }>
  ping(): Promise<void>
  close(): Promise<void>
}
