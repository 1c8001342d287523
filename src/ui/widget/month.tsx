import type { HTMLAttributes } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Day, monthOf } from './days.ts'
import { NextIcon, PreviousIcon } from './icons.tsx'
import { useView } from './view.ts'

export interface MonthProps {
  /** The day with the focus, whose month is shown. */
  focused: Day
  /** Days with free times. */
  free: ReadonlySet<Day>
  selected: Day | undefined
  today: Day
  isLoading: boolean
  /** Another month is shown. */
  onMonth(day: Day): void
  onSelect(day: Day): void
}

const toDay = (date: Date): Day => date.toISOString().slice(0, 10)

/** Loads the elements, unless the page has defined its own copy of them. */
export async function loadCalendar(): Promise<void> {
  if (customElements.get('calendar-date') === undefined) await import('cally')
}

/** The month grid of cally, which does the dates, the keyboard and the roles. */
export function Month({ focused, free, selected, today, isLoading, onMonth, onSelect }: MonthProps) {
  const { t, locale, formats } = useView()
  const calendar = useRef<CalendarElement>(null)
  const shown = useRef(focused)
  shown.current = focused

  useEffect(() => {
    const element = calendar.current
    if (element === null) return
    const select = () => onSelect(element.value)
    const focus = (event: Event) => {
      const day = toDay((event as CustomEvent<Date>).detail)
      if (monthOf(day).from !== monthOf(shown.current).from) onMonth(day)
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
      class={isLoading ? 'month loading' : 'month'}
      aria-busy={isLoading}
      locale={locale.tag}
      firstDayOfWeek={locale.firstDayOfWeek % 7}
      value={selected ?? ''}
      focusedDate={focused}
      today={today}
      min={today}
      // The short names of Arabic are whole words.
      formatWeekday={locale.language === 'ar' ? 'narrow' : 'short'}
      isDateDisallowed={(date: Date) => !free.has(toDay(date))}
      getDayParts={(date: Date) => (free.has(toDay(date)) ? 'free' : '')}
    >
      <span slot="previous" class="turn">
        <PreviousIcon />
        <span class="unseen">{t('previousMonth')}</span>
      </span>
      <span slot="next" class="turn">
        <NextIcon />
        <span class="unseen">{t('nextMonth')}</span>
      </span>
      <span slot="heading" aria-hidden="true">
        {formats.month(focused)}
      </span>
      <calendar-month />
    </calendar-date>
  )
}

interface CalendarElement extends HTMLElement {
  value: Day
}

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'calendar-date': HTMLAttributes<CalendarElement> & {
        locale: string
        firstDayOfWeek: number
        value: Day
        focusedDate: Day
        today: Day
        min: Day
        formatWeekday: 'narrow' | 'short'
        isDateDisallowed(date: Date): boolean
        getDayParts(date: Date): string
      }
      'calendar-month': HTMLAttributes<HTMLElement>
    }
  }
}
