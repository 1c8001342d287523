import type { OpenHours } from '../../../api/types.ts'

/** In the order of their numbers in the API. */
export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
/** As the editor shows them. */
export const WEEK = [1, 2, 3, 4, 5, 6, 0] as const
export const DAY_MINUTES = 1440
export const STEP_MINUTES = 15

/** Open hours of one weekday, in minutes of the day. An end after 24:00 is on the next day. */
export interface Block {
  day: number
  start: number
  end: number
  /** The other members of the rule, such as its time zone. */
  rest: Record<string, unknown>
}

/** One block for each day of each rule, by day and start. A rule with a time that cannot be read is left out. */
export function toBlocks(rules: readonly OpenHours[]): Block[] {
  const blocks = rules.flatMap(({ days, start: startText, end: endText, ...rest }) => {
    const [start, end] = [parseMinutes(startText), parseMinutes(endText)]
    if (start === undefined || end === undefined) return []
    return days.map((day) => ({
      day: typeof day === 'number' ? day : DAYS.findIndex((name) => name.toLowerCase() === day),
      start,
      end: end <= start ? end + DAY_MINUTES : end,
      rest,
    }))
  })
  return blocks.sort((a, b) => a.day - b.day || a.start - b.start)
}

/** Rules with as many days as possible. */
export function toRules(blocks: readonly Block[]): OpenHours[] {
  const rules = new Map<string, Omit<OpenHours, 'days'> & { days: number[] }>()
  for (const { day, start, end, rest } of blocks) {
    const times = { start: formatClock(start), end: formatClock(end) }
    const key = JSON.stringify([times, rest])
    const rule = rules.get(key) ?? { days: [], ...times, ...rest }
    if (!rule.days.includes(day)) rule.days.push(day)
    rules.set(key, rule)
  }
  for (const { days } of rules.values()) days.sort((a, b) => a - b)
  return [...rules.values()]
}

/** Undefined for a text that is no time of day. */
export function parseMinutes(text: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)$/.exec(text.trim()) ?? []
  const total = Number(hours) * 60 + Number(minutes)
  return Number(minutes) < 60 && total <= DAY_MINUTES ? total : undefined
}

export function formatClock(minutes: number): string {
  const of = minutes > DAY_MINUTES ? minutes - DAY_MINUTES : minutes
  return `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`
}

/** The block within the limits of a day: at least one step long, and not longer than a day. */
export function bounded({ day, start, end, rest }: Block): Block {
  const from = Math.min(Math.max(0, start), DAY_MINUTES - STEP_MINUTES)
  const to = Math.max(from + STEP_MINUTES, Math.min(end, from + DAY_MINUTES))
  return { day: (day + 7) % 7, start: from, end: to, rest }
}

export function blockText({ day, start, end, rest }: Block): string {
  const zone = typeof rest.timezone === 'string' ? ` (${rest.timezone})` : ''
  return `${DAYS[day]}, ${formatClock(start)} to ${formatClock(end)}${end > DAY_MINUTES ? ' on the next day' : ''}${zone}`
}
