import { limitExceeded, timeoutError } from '../errors.ts'
import type { ImapClient } from './client.ts'

/** Limits one piece of work, such as a list of the folders or a step of a sync. */
export interface WorkLimits {
  /** The connection is closed when the server sends nothing for this long (twice that at the latest). */
  silenceMs: number
  /** How long the work may take, even when data arrives all the time. */
  workMs: number
  lines: number
  bytes: number
}

/** Runs commands, and closes the connection when a limit is exceeded. Throws what ended the connection, if it is known. */
export async function withinLimits<T>(
  client: ImapClient,
  limits: WorkLimits,
  doing: string,
  work: Promise<T>,
): Promise<T> {
  const start = client.traffic()
  let { bytes: received } = start
  const closeWith = (why: string, options?: { timedOut: boolean }) =>
    client.closeWith(limitExceeded(`${doing}: ${why}`, options))
  const silence = setInterval(() => {
    const { bytes } = client.traffic()
    if (bytes === received) client.closeWith(timeoutError(doing, limits.silenceMs))
    received = bytes
  }, limits.silenceMs)
  const tooLong = `the server did not finish within ${Math.round(limits.workMs / 1000)} s`
  const deadline = setTimeout(() => closeWith(tooLong, { timedOut: true }), limits.workMs)
  const stopCounting = client.onTraffic(({ lines, bytes }) => {
    if (lines - start.lines > limits.lines) closeWith(`the server sent more than ${limits.lines} lines`)
    if (bytes - start.bytes > limits.bytes) closeWith(`the server sent more than ${limits.bytes} bytes`)
  })
  try {
    const result = await work
    // imapflow returns false for some commands when the connection ends.
    if (!client.imap.usable && client.failure() !== undefined) throw client.failure()
    return result
  } catch (error) {
    throw client.imap.usable ? error : (client.failure() ?? error)
  } finally {
    clearInterval(silence)
    clearTimeout(deadline)
    stopCounting()
  }
}
