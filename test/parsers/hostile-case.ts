/** One parser of text or bytes that strangers or servers send, with one shape of input that may cost it more than its length. */
export interface HostileCase {
  /** `iCalendar objects` */
  parser: string
  /** `thousands of zones` */
  shape: string
  /** The size of the input: the largest that gets this far, or one beyond it that must be refused. */
  size: number
  /** Makes the input. The returned function parses it, and may throw or reject as it refuses it. */
  prepare(size: number): () => unknown
  /** Runs on a thread of its own in the service, so that no request waits for it. */
  isOnThread?: boolean
  /** CPU time for the largest input, by default 100 ms, or 20 ms where it all happens in one turn of the main thread. */
  totalMs?: number
}

/** Several shapes for one parser. */
export function buildCases(
  parser: string,
  common: Pick<HostileCase, 'isOnThread' | 'totalMs'>,
  shapes: Omit<HostileCase, 'parser'>[],
): HostileCase[] {
  return shapes.map((shape) => ({ parser, ...common, ...shape }))
}
