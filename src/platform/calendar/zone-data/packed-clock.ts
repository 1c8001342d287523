import type { OffsetChange, ZoneClock } from './clock.ts'

/**
 * Reads a zone of the shipped table, as `scripts/zone-table.mjs` wrote it: its offsets, the first of which is the initial one; for each
 * change the index of its offset and the seconds since the change before; the footer. Numbers are in base 36.
 *
 *     2h4 2s0 5k0|1-1421154 2c1n0x4 17ves0 …|CET-1CEST,M3.5.0,M10.5.0/3
 */
export function unpackClock(packed: string): ZoneClock {
  const [offsetsText = '', changesText = '', footer = ''] = packed.split('|')
  const offsets = offsetsText.split(' ').map((text) => Number.parseInt(text, 36))
  const changes: OffsetChange[] = []
  let at = 0
  for (const text of changesText === '' ? [] : changesText.split(' ')) {
    at += Number.parseInt(text.slice(1), 36)
    changes.push({ at, offset: offsets[Number.parseInt(text.charAt(0), 36)] ?? 0 })
  }
  return { initial: offsets[0] ?? 0, changes, footer }
}
