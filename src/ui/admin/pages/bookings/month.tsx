import 'cally'
import { useEffect, useRef } from 'react'
import { IconChevronLeft, IconChevronRight } from '../../parts/icons.tsx'
import { formatDate } from './week-days.ts'

export interface MonthProps {
  /** The day with the focus, whose month is shown. */
  focused: string
  /** Days with free times. */
  free: ReadonlySet<string>
  selected: string | undefined
  isLoading: boolean
  /** Another month is shown. */
  onMonth(day: string): void
  onSelect(day: string): void
}

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
/** The calendar handles days as midnights in UTC. */
const toDay = (date: Date) => date.toISOString().slice(0, 10)

/** The month of the booking widget, of which days with free times can be chosen. */
export function Month({ focused, free, selected, isLoading, onMonth, onSelect }: MonthProps) {
  const calendar = useRef<CalendarElement>(null)
  const today = formatDate(new Date())
  useEffect(() => {
    const element = calendar.current
    if (element === null) return
    const select = () => onSelect(element.value)
    const focus = (event: Event) => {
      const day = toDay((event as CustomEvent<Date>).detail)
      if (day.slice(0, 7) !== focused.slice(0, 7)) onMonth(day)
    }
    element.addEventListener('change', select)
    element.addEventListener('focusday', focus)
    return () => {
      element.removeEventListener('change', select)
      element.removeEventListener('focusday', focus)
    }
  })
  return (
    <calendar-date
      ref={calendar}
      class="month"
      aria-busy={isLoading}
      value={selected ?? ''}
      focusedDate={focused}
      today={today}
      min={today}
      formatWeekday="short"
      isDateDisallowed={(date) => !free.has(toDay(date))}
      getDayParts={(date) => (free.has(toDay(date)) ? 'free' : '')}
    >
      <span slot="previous" className="month-turn">
        <IconChevronLeft />
        <span className="visually-hidden">Previous month</span>
      </span>
      <span slot="next" className="month-turn">
        <IconChevronRight />
        <span className="visually-hidden">Next month</span>
      </span>
      <span slot="heading" aria-hidden="true">
        {monthName.format(new Date(focused))}
      </span>
      <calendar-month />
    </calendar-date>
  )
}

interface CalendarElement extends HTMLElement {
  value: string
}

interface CalendarAttributes {
  class: string
  value: string
  focusedDate: string
  today: string
  min: string
  formatWeekday: 'narrow' | 'short'
  isDateDisallowed(date: Date): boolean
  getDayParts(date: Date): string
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'calendar-date': DetailedHTMLProps<HTMLAttributes<CalendarElement>, CalendarElement> & CalendarAttributes
      'calendar-month': DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement>
    }
  }
}
