/**
 * Short-lived values that may vanish at any time: rate buckets, label lists. Never the only copy of anything. While it is out
 * of reach nothing is found and nothing kept; `delete` and `increment` reject, since their effect would be missed.
 */
export interface Cache {
  readonly provider: 'memory' | 'redis'
  get(key: string): Promise<string | undefined>
  set(key: string, value: string, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
  /** Adds 1 to a counter that starts at 0 and ends `ttlMs` after its first increment; atomic over replicas. */
  increment(key: string, ttlMs: number): Promise<{ count: number; resetInMs: number }>
  ping(): Promise<void>
  close(): Promise<void>
}
