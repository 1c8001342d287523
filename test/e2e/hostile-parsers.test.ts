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
/** The allowed growth for four times the input. Linear work makes it 4, quadratic work 16. */
const MAX_GROWTH = 8
/** Less work than this is too little to compare. */
const MIN_COMPARED_MS = 3
/** Noise only adds time, so the shortest of some measurements counts. Little work is measured more often. */
const ATTEMPTS = 6
const ATTEMPTS_MS = 2000

describe('parsers of what strangers and servers send', () => {
  it.each(CASES)('read $parser in linear time: $shape', async (hostile) => {
    const best = { full: NONE, half: NONE, quarter: NONE }
    let faults: string[] = []
    const beganAt = performance.now()
    for (let attempt = 0; attempt < ATTEMPTS || performance.now() - beganAt < ATTEMPTS_MS; attempt += 1) {
      best.full = shorter(best.full, await measured(hostile, hostile.size))
      if (best.full.totalMs > MIN_COMPARED_MS) {
        best.quarter = shorter(best.quarter, await measured(hostile, Math.ceil(hostile.size / 4)))
        if (best.full.totalMs / best.quarter.totalMs > MAX_GROWTH) {
          best.half = shorter(best.half, await measured(hostile, Math.ceil(hostile.size / 2)))
        }
      }
      faults = findFaults(hostile, best, 1)
      if (faults.length > 0) faults = findFaults(hostile, best, slowness())
      if (faults.length === 0) break
    }
    if (process.env.PARSER_TIMES) {
      const ms = [best.quarter, best.full].map(({ totalMs }) => totalMs.toFixed(1))
      console.log(
        `${hostile.parser}, ${hostile.shape}: ${ms.join(' → ')} ms, turn ${best.full.longestTurnMs.toFixed(1)}`,
      )
    }
    expect(faults).toEqual([])
  })
})

interface Measured {
  full: CpuWork
  half: CpuWork
  quarter: CpuWork
}

const NONE: CpuWork = { totalMs: Number.POSITIVE_INFINITY, longestTurnMs: Number.POSITIVE_INFINITY }

function shorter(left: CpuWork, right: CpuWork): CpuWork {
  return {
    totalMs: Math.min(left.totalMs, right.totalMs),
    longestTurnMs: Math.min(left.longestTurnMs, right.longestTurnMs),
  }
}

function measured({ prepare }: HostileCase, size: number): Promise<CpuWork> {
  const parse = prepare(size)
  return measureCpu(async () => {
    try {
      await parse()
    } catch (error) {
      // A refusal is as good as a result: only its cost matters here.
      if (error instanceof TypeError || error instanceof ReferenceError) throw error
    }
  })
}

function findFaults(
  { isOnThread, totalMs = MAX_TOTAL_MS }: HostileCase,
  { full, half, quarter }: Measured,
  slow: number,
) {
  const faults: string[] = []
  // A step at one size, where a cache of the machine is full, is not growth: quadratic work also grows in the last half.
  const grows = full.totalMs / quarter.totalMs > MAX_GROWTH && full.totalMs / half.totalMs > Math.sqrt(MAX_GROWTH)
  const sizes = [quarter, half, full].map((work) => `${work.totalMs.toFixed(1)} ms`).join(', ')
  if (full.totalMs > MIN_COMPARED_MS * slow && grows) faults.push(`grows faster than its input: ${sizes}`)
  if (full.totalMs > totalMs * slow) faults.push(`takes more than ${totalMs} ms: ${sizes}`)
  if (!isOnThread && full.longestTurnMs > MAX_TURN_MS * slow) {
    faults.push(`holds the event loop for ${full.longestTurnMs.toFixed(1)} ms`)
  }
  return faults
}
