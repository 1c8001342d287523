// A week of realistic counts for the overview of the portal, so that its pictures show a service in use: busy hours, quiet nights and
// weekends, and an evening on which an endpoint failed. The same every time, apart from the dates.
import Database from 'libsql'

const HOUR_MS = 3_600_000
const DAYS = 7
/** Messages in each hour of a working day, from midnight on. */
const HOURS = [2, 1, 1, 1, 2, 4, 9, 21, 44, 58, 61, 52, 38, 47, 55, 51, 43, 33, 21, 14, 10, 8, 5, 3]
/** Sundays first. */
const WEEKDAYS = [0.15, 1, 1.08, 1.02, 1.1, 0.85, 0.2]
/** Latency classes (see `latency.ts` of the portal's API), from 17 to 290 ms, and how many of a hundred deliveries have each. */
const LATENCIES = { 13: 8, 14: 17, 15: 24, 16: 20, 17: 13, 18: 8, 19: 5, 22: 3, 25: 2 }
const BAD_DAY = 3

/**
 * Adds the counts of the hours before this one to the database of a service.
 * @param {string} file
 * @param {number} nowMs
 */
export function writeActivity(file, nowMs) {
  const database = new Database(file, { timeout: 10_000 })
  const add = database.prepare(`insert into "activityCounts" ("hour", "name", "amount") values (?, ?, ?)
    on conflict ("hour", "name") do update set "amount" = "amount" + excluded."amount"`)
  const current = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  const random = numbers(7)
  database.exec('begin immediate')
  for (let back = DAYS * 24; back >= 1; back -= 1) {
    const hour = current - back * HOUR_MS
    for (const [name, amount] of Object.entries(countsOf(new Date(hour), random))) {
      if (amount > 0) add.run(hour, name, amount)
    }
  }
  database.exec('commit')
  database.close()
}

/** @param {Date} start @param {() => number} random */
function countsOf(start, random) {
  const mean = (HOURS[start.getUTCHours()] ?? 0) * (WEEKDAYS[start.getUTCDay()] ?? 0)
  const received = Math.round(mean * (0.8 + 0.4 * random()))
  const sent = Math.round(received * (0.25 + 0.15 * random()))
  const delivered = 2 * received + sent
  const isBad = start.getUTCDay() === BAD_DAY && start.getUTCHours() >= 18
  const latencies = Object.entries(LATENCIES).map(([index, share]) => [
    `latency.${index}`,
    Math.round((delivered * share) / 100),
  ])
  return {
    received,
    sent,
    booked: random() < mean / 80 ? 1 : 0,
    delivered,
    failed: isBad ? Math.round(delivered * 0.12) : 0,
    ...Object.fromEntries(latencies),
  }
}

/** Numbers from 0 to 1 that are the same for each seed. */
function numbers(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
