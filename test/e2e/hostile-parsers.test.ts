import { afterAll, describe, expect, it } from 'vitest'
import { type CpuWork, measureCpu, slowness } from '../kit/measure/cpu-work.ts'
import { CALDAV } from '../parsers/caldav.ts'
import { CALENDARS } from '../parsers/calendars.ts'
import type { HostileCase } from '../parsers/hostile-case.ts'
import { HTML_BODIES } from '../parsers/html.ts'
import { HTTP } from '../parsers/http.ts'
import { IMAP } from '../parsers/imap.ts'
import { MIME } from '../parsers/mime.ts'
import { PROVIDERS } from '../parsers/providers.ts'
import { ROUTES, stopService } from '../parsers/routes.ts'
import { SIGN_IN } from '../parsers/sign-in.ts'
import { SMTP } from '../parsers/smtp.ts'
import { PLAIN_TEXTS } from '../parsers/texts.ts'

const CASES: HostileCase[] = [
  ...HTTP,
  ...IMAP,
  ...PROVIDERS,
  ...PLAIN_TEXTS,
  ...HTML_BODIES,
  ...MIME,
  ...CALENDARS,
  ...CALDAV,
  ...SMTP,
  ...SIGN_IN,
  // Last, because the service then runs beside what is measured.
  ...ROUTES,
]

afterAll(stopService)

/** No turn of the main thread may take longer. */
const MAX_TURN_MS = 20
const MAX_TOTAL_MS = 100
/**
 * Work that is not linear grows at both of two steps: one input takes longer than four of a quarter of its size, and these longer than
 * sixteen of a sixteenth, although all read and allocate the same. Linear work makes both ratios 1, quadratic work 4. Growth at only one
 * step is a limit of the machine, such as a full cache, or of V8: an array over 128 kB costs 3 ms more.
 */
const MAX_GROWTH = { full: 2, quarters: 1.4 }
/** Less work than this is too little to compare. */
const MIN_COMPARED_MS = 3
/** Noise only adds time, so the shortest of some measurements counts. Little work is measured more often. */
const ATTEMPTS = 6
const ATTEMPTS_MS = 2000

describe('parsers of what strangers and servers send', () => {
  it.each(CASES)('read $parser in linear time: $shape', async (hostile) => {
    const best = { full: NONE, quarters: NONE, sixteenths: NONE }
    let faults: string[] = []
    const beganAt = performance.now()
    for (let attempt = 0; attempt < ATTEMPTS || performance.now() - beganAt < ATTEMPTS_MS; attempt += 1) {
      best.full = shorter(best.full, await measured(hostile, hostile.size))
      if (best.full.totalMs > MIN_COMPARED_MS) {
        best.quarters = shorter(best.quarters, await measured(hostile, Math.ceil(hostile.size / 4), 4))
        if (best.full.totalMs > MAX_GROWTH.full * best.quarters.totalMs) {
          best.sixteenths = shorter(best.sixteenths, await measured(hostile, Math.ceil(hostile.size / 16), 16))
        }
      }
      faults = findFaults(hostile, best, 1)
      if (faults.length > 0) faults = findFaults(hostile, best, slowness())
      if (faults.length === 0) break
    }
    if (process.env.PARSER_TIMES) {
      const ms = [best.quarters, best.full].map(({ totalMs }) => totalMs.toFixed(1))
      console.log(
        `${hostile.parser}, ${hostile.shape}: ${ms.join(' → ')} ms, turn ${best.full.longestTurnMs.toFixed(1)}`,
      )
    }
    expect(faults).toEqual([])
  })
})

interface Measured {
  full: CpuWork
  /** Four inputs of a quarter of the size, one after the other. */
  quarters: CpuWork
  /** Sixteen inputs of a sixteenth. */
  sixteenths: CpuWork
}

const NONE: CpuWork = { totalMs: Number.POSITIVE_INFINITY, longestTurnMs: Number.POSITIVE_INFINITY }

function shorter(left: CpuWork, right: CpuWork): CpuWork {
  return {
    totalMs: Math.min(left.totalMs, right.totalMs),
    longestTurnMs: Math.min(left.longestTurnMs, right.longestTurnMs),
  }
}

function measured({ prepare }: HostileCase, size: number, times = 1): Promise<CpuWork> {
  const parsers = Array.from({ length: times }, () => prepare(size))
  return measureCpu(async () => {
    for (const parse of parsers) {
      try {
        await parse()
      } catch (error) {
        // A refusal is as good as a result: only its cost matters here.
        if (error instanceof TypeError || error instanceof ReferenceError) throw error
      }
    }
  })
}

function findFaults(
  { isOnThread, totalMs = MAX_TOTAL_MS }: HostileCase,
  { full, quarters, sixteenths }: Measured,
  slow: number,
) {
  const faults: string[] = []
  const [whole, inQuarters, inSixteenths] = [full, quarters, sixteenths].map((work) => `${work.totalMs.toFixed(1)} ms`)
  const grows =
    full.totalMs > MAX_GROWTH.full * quarters.totalMs && quarters.totalMs > MAX_GROWTH.quarters * sixteenths.totalMs
  if (full.totalMs > MIN_COMPARED_MS * slow && grows) {
    faults.push(`grows faster than its input: ${whole}, ${inQuarters} in quarters, ${inSixteenths} in sixteenths`)
  }
  if (full.totalMs > totalMs * slow) faults.push(`takes more than ${totalMs} ms: ${whole}`)
  if (!isOnThread && full.longestTurnMs > MAX_TURN_MS * slow) {
    faults.push(`holds the event loop for ${full.longestTurnMs.toFixed(1)} ms`)
  }
  return faults
}
