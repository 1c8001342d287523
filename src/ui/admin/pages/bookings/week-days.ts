import type { Booking } from '../../api/types.ts'

/** Days in the viewer's zone. */
export function dayStart(text: string): Date {
  const day = new Date(`${text}T00:00:00`)
  return Number.isNaN(day.getTime()) ? new Date() : day
}

export function plusDays(day: Date, days: number): Date {
  const next = new Date(day)
  next.setDate(next.getDate() + days)
  return next
}

export function mondayOf(day: Date): Date {
  const monday = plusDays(day, -((day.getDay() + 6) % 7))
  monday.setHours(0, 0, 0, 0)
  return monday
}

export function formatDate(day: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}

/** Divides the width among bookings that overlap. They are sorted by start. */
export function sideBySide(bookings: readonly Booking[]): { booking: Booking; column: number; columns: number }[] {
  const placed: { booking: Booking; column: number; columns: number }[] = []
  /** Those that overlap, directly or through others. */
  let group: typeof placed = []
  let ends: number[] = []
  const close = () => {
    for (const block of group) block.columns = ends.length
    placed.push(...group)
    group = []
    ends = []
  }
  for (const booking of bookings) {
    const [start, end] = [Date.parse(booking.slot.start), Date.parse(booking.slot.end)]
    if (ends.every((other) => other <= start)) close()
    const free = ends.findIndex((other) => other <= start)
    const column = free === -1 ? ends.length : free
    ends[column] = end
    group.push({ booking, column, columns: 1 })
  }
  close()
  return placed
}
