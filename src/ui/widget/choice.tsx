import { useEffect, useMemo, useState } from 'preact/hooks'
import { asApiError, type Experience, type SchedulerApi } from './api.ts'
import { addDays, byDay, type Day, dayIn, monthOf, type Slot, toRange, type Window, weekOf } from './days.ts'
import type { Flow } from './flow.ts'
import type { Clock } from './formats.ts'
import { Month } from './month.tsx'
import { DayHeading, Failure, Notice } from './notices.tsx'
import { SlotButtons } from './slot-buttons.tsx'
import { useTimes } from './times.ts'
import { useView } from './view.ts'
import type { Week } from './week.tsx'
import { ZonePicker } from './zone-picker.tsx'

interface ChoiceProps {
  api: SchedulerApi
  experience: Experience
  flow: Flow
  /** The week, if the experience shows weeks. */
  week: typeof Week | undefined
  durationMinutes: number
  zone: string
  onZone(zone: string): void
  clock: Clock
  onClock(clock: Clock): void
  /** True when the visitor comes back from the form. */
  takesFocus: boolean
}

/** How far ahead the next free day is searched, in requests of 60 days. */
const SEARCHES = 3
const SEARCH_DAYS = 59

/** The first step: a month or a week with its free times. */
export function Choice({
  api,
  experience,
  flow,
  week: OneWeek,
  durationMinutes,
  zone,
  onZone,
  clock,
  onClock,
  takesFocus,
}: ChoiceProps) {
  const { t, locale, formats } = useView()
  const today = dayIn(zone)(Date.now())
  const [focused, setFocused] = useState(today)
  const [chosen, setChosen] = useState<Day>()
  const [isFocusWanted, setFocusWanted] = useState(takesFocus)
  const [search, setSearch] = useState<'first' | 'running' | 'none' | 'idle'>('first')

  const shown = focused < today ? today : focused
  const visible = OneWeek !== undefined ? weekOf(shown, locale.firstDayOfWeek) : monthOf(shown)
  const times = useTimes({ api, window: visible, durationMinutes, timeZone: zone })
  const days = useMemo(
    () => byDay(withHeld(times.slots ?? [], flow.held?.slot), visible, zone),
    [times.slots, flow.held, visible.from, zone],
  )
  const selected = chosen !== undefined && days.has(chosen) ? chosen : [...days.keys()][0]
  const isEmpty = times.slots !== undefined && days.size === 0

  // A visitor who comes at the end of a month would see no free day. This happens once, so that visitors can still open that month.
  useEffect(() => {
    if (times.slots === undefined || search !== 'first') return
    if (isEmpty) void findNext()
    else setSearch('idle')
  }, [times.slots])
  useEffect(() => {
    if (flow.error?.code === 'slot_unavailable') times.reload()
  }, [flow.error])

  useEffect(() => {
    if (times.error !== undefined) flow.report(times.error)
  }, [times.error])
  useEffect(() => {
    if (times.redirectUrl !== undefined) flow.redirect(times.redirectUrl)
  }, [times.redirectUrl])

  async function findNext(): Promise<void> {
    setSearch('running')
    const day = await nextFree({ api, durationMinutes, zone, after: visible.to }).catch((error: unknown) => {
      flow.report(asApiError(error))
      return undefined
    })
    setSearch(day === undefined ? 'none' : 'idle')
    if (day !== undefined) show(day)
  }

  function show(day: Day): void {
    setFocused(day)
    setChosen(day)
  }

  // Without it nobody knows how old the slots are.
  if (times.error?.code === 'generated_at_required') return <Failure error={times.error} retry={times.reload} />
  const picker = (
    <ZonePicker zone={zone} also={[experience.timezone, 'UTC']} onZone={onZone} clock={clock} onClock={onClock} />
  )
  const note = (
    <>
      {times.error !== undefined && <Failure error={times.error} retry={times.reload} />}
      {flow.error !== undefined && <Failure error={flow.error} />}
      {isEmpty && !times.isLoading && search !== 'running' && search !== 'first' && (
        <Notice
          tone="note"
          text={search === 'none' ? t('noneAhead') : t('noTimes')}
          action={search === 'none' ? undefined : { label: t('nextFree'), run: () => void findNext() }}
        />
      )}
      <p class="unseen" role="status">
        {times.isLoading ? t('loading') : t('timesFound', { count: String([...days.values()].flat().length) })}
      </p>
    </>
  )
  const isLoading = times.isLoading || search === 'running'
  if (OneWeek !== undefined) {
    return (
      <div class="choice">
        {note}
        <OneWeek
          window={visible}
          days={days}
          today={today}
          isLoading={isLoading}
          takesFocus={takesFocus}
          pending={flow.pending}
          onWeek={(day) => setFocused(day < today ? today : day)}
          onSelect={flow.select}
        />
        {picker}
      </div>
    )
  }
  return (
    <div class="choice">
      {note}
      <div class="columns-month">
        <div class="pick-day">
          <Month
            focused={shown}
            free={new Set(days.keys())}
            selected={selected}
            today={today}
            isLoading={isLoading}
            onMonth={(day) => {
              setFocused(day)
              setChosen(undefined)
              setFocusWanted(false)
            }}
            onSelect={(day) => {
              show(day)
              setFocusWanted(true)
            }}
          />
          {picker}
        </div>
        <section class="pick-time" aria-busy={isLoading} aria-label={t('selectTime')}>
          {selected !== undefined ? (
            <>
              <DayHeading key={selected} takesFocus={isFocusWanted}>
                {formats.day(selected)}
              </DayHeading>
              <SlotButtons slots={days.get(selected) ?? []} pending={flow.pending} onSelect={flow.select} />
            </>
          ) : (
            isLoading && <Skeleton />
          )}
        </section>
      </div>
    </div>
  )
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      <i />
      <i />
      <i />
      <i />
      <i />
    </div>
  )
}

/** Lists do not contain the slot that this visitor holds. */
function withHeld(slots: readonly Slot[], held: Slot | undefined): readonly Slot[] {
  return held === undefined || slots.some(({ start }) => start === held.start) ? slots : [...slots, held]
}

interface SearchParts {
  api: SchedulerApi
  durationMinutes: number
  zone: string
  after: Day
}

async function nextFree({ api, durationMinutes, zone, after }: SearchParts): Promise<Day | undefined> {
  let from = addDays(after, 1)
  for (let request = 0; request < SEARCHES; request += 1) {
    const ahead: Window = { from, to: addDays(from, SEARCH_DAYS) }
    const range = toRange(ahead, Date.now())
    if (range === undefined) return undefined
    const { slots } = await api.slots(
      { range: { ...range, timezone: zone }, durationMinutes, timezone: zone },
      new AbortController().signal,
    )
    const [day] = byDay(slots, ahead, zone).keys()
    if (day !== undefined) return day
    from = addDays(ahead.to, 1)
  }
  return undefined
}
