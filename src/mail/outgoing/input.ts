import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import { parseTime, TIME_PROBLEM } from '../../platform/time/time.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { parseAddress } from '../../providers/shared/mime/index.ts'

const MAX_AHEAD_MS = 366 * 24 * 60 * 60_000

/** Parses one address of a request, or adds what is wrong with it to `errors`. */
export function parseRecipient(path: string, text: string, errors: ErrorDetail[]): RemoteAddress[] {
  const { address, problem } = parseAddress(text)
  if (address === undefined) errors.push({ path, message: problem })
  return address === undefined ? [] : [address]
}

/** Parses a list of addresses in the body of a request. */
export function parseRecipients(name: string, list: readonly string[], errors: ErrorDetail[]): RemoteAddress[] {
  return list.flatMap((text, index) => parseRecipient(`body.${name}.${index}`, text, errors))
}

/** Parses the member `sendAt` of a request. Null: now. */
export function parseSendAt(text: string | null | undefined, nowMs: number, errors: ErrorDetail[]): number | null {
  if (text === null || text === undefined || text === '') return null
  const path = 'body.sendAt'
  const ms = parseTime(text)
  if (ms === undefined) errors.push({ path, message: TIME_PROBLEM })
  else if (ms - nowMs > MAX_AHEAD_MS) errors.push({ path, message: 'must not be more than a year ahead' })
  return ms === undefined || ms <= nowMs ? null : ms
}
