import { failedEach, ProviderError } from '../contract/index.ts'
import { type BatchItem, type BatchResult, type Graph, SYNC_LIMITS } from './client.ts'

/** Messages whose result is lost together when a request fails. */
const CHUNK = 20

/** Sends changes in batches. Returns the body or the error of each, in order; rejects only when the signal aborts. */
export async function sendEach(
  graph: Graph,
  items: readonly BatchItem[],
  { doing, signal }: { doing: string; signal?: AbortSignal | undefined },
): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  for (let start = 0; start < items.length; start += CHUNK) {
    const chunk = items.slice(start, start + CHUNK)
    try {
      const received = await graph.batch(chunk, { doing, signal, ...SYNC_LIMITS })
      results.push(...chunk.map((item) => received.get(item) ?? {}))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      results.push(...failedEach(chunk, error))
    }
  }
  return results
}
