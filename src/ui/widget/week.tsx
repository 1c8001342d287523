import { addDays, type Day, daysOf, type Slot, type Window } from './days.ts'
import { NextIcon, PreviousIcon } from './icons.tsx'
import { StepHeading } from './notices.tsx'
import { SlotButtons } from './slot-buttons.tsx'
import { useView } from './view.ts'

export { default as WEEK_STYLE } from './style/week.css'

interface WeekProps {
  window: Window
  days: ReadonlyMap<Day, Slot[]>
  today: Day
  isLoading: boolean
  /** True when the visitor comes back from the form. */
  takesFocus: boolean
  /** The slot that is being reserved. */
  pending: Slot | undefined
  onWeek(day: Day): void
  onSelect(slot: Slot): void
}

/** The times of seven days side by side, or below each other where the widget is narrow. */
export function Week({ window: week, days, today, isLoading, takesFocus, pending, onWeek, onSelect }: WeekProps) {
  const { t, formats } = useView()
  const isFirst = week.from <= today
  return (
    <div class={isLoading ? 'week loading' : 'week'} aria-busy={isLoading}>
      <div class="head">
        <button
          type="button"
          class="turn"
          aria-disabled={isFirst}
          onClick={() => !isFirst && onWeek(addDays(week.from, -7))}
        >
          <PreviousIcon />
          <span class="unseen">{t('previousWeek')}</span>
        </button>
        <StepHeading takesFocus={takesFocus}>{formats.week(week)}</StepHeading>
        <button type="button" class="turn" onClick={() => onWeek(addDays(week.from, 7))}>
          <NextIcon />
          <span class="unseen">{t('nextWeek')}</span>
        </button>
      </div>
      <div class="columns">
        {daysOf(week).map((day) => (
          <section key={day} class={day < today ? 'column past' : 'column'} aria-label={formats.day(day)}>
            <h3 class={day === today ? 'today' : ''}>
              <span>{formats.weekday(day)}</span> <b>{formats.shortDay(day)}</b>
            </h3>
            <SlotButtons slots={days.get(day) ?? []} pending={pending} onSelect={onSelect} />
            {!isLoading && !days.has(day) && (
              <p class="none">
                <span aria-hidden="true">–</span>
                <span class="unseen">{t('noTimesOn')}</span>
              </p>
            )}
          </section>
        ))}
      </div>
    </div>
  )
}
