import type { OffsetChange, ZoneClock } from './clock.ts'

const HEADER = 44
const MAX_CHANGES = 5000

/** Where the counts of a header are. */
const COUNTS = { isUt: 20, isStandard: 24, leaps: 28, times: 32, types: 36, characters: 40 } as const

/** Reads a compiled zone of the time zone database (RFC 9636), version 2 or later. Undefined for anything else. */
export function readTzif(bytes: Buffer): ZoneClock | undefined {
  if (!isHeader(bytes, 0) || (bytes[4] ?? 0) < 0x32) return undefined
  const second = HEADER + dataLength(bytes, 0, 4)
  if (!isHeader(bytes, second)) return undefined
  const count = (name: keyof typeof COUNTS) => bytes.readUInt32BE(second + COUNTS[name])
  const [times, types] = [count('times'), count('types')]
  const data = second + HEADER
  const typesAt = data + times * 9
  const footerAt = data + dataLength(bytes, second, 8)
  if (times > MAX_CHANGES || types === 0 || footerAt > bytes.length) return undefined
  const readOffset = (type: number) => bytes.readInt32BE(typesAt + type * 6)
  const changes: OffsetChange[] = []
  let offset = readOffset(0)
  for (let index = 0; index < times; index += 1) {
    const type = bytes[data + times * 8 + index] ?? 0
    if (type >= types) return undefined
    const next = readOffset(type)
    // The others change only the name or whether it is summer time.
    if (next !== offset) changes.push({ at: Number(bytes.readBigInt64BE(data + index * 8)), offset: next })
    offset = next
  }
  const footer = bytes.toString('latin1', footerAt).split('\n')[1] ?? ''
  return { initial: readOffset(0), changes, footer }
}

function isHeader(bytes: Buffer, at: number): boolean {
  return bytes.length >= at + HEADER && bytes.toString('latin1', at, at + 4) === 'TZif'
}

/** The length of the data behind a header, with times of 4 or 8 bytes. */
function dataLength(bytes: Buffer, at: number, timeBytes: number): number {
  const count = (name: keyof typeof COUNTS) => bytes.readUInt32BE(at + COUNTS[name])
  const leaps = count('leaps') * (timeBytes + 4)
  return (
    count('times') * (timeBytes + 1) +
    count('types') * 6 +
    count('characters') +
    leaps +
    count('isStandard') +
    count('isUt')
  )
}
