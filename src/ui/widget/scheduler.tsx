import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { asRecord, chooseTitle, type Experience, type Move, type SchedulerApi, textIn } from './api.ts'
import { Choice } from './choice.tsx'
import type { Slot } from './days.ts'
import { type Emit, useFlow } from './flow.ts'
import { type Clock, formats, formatTime, usualClock } from './formats.ts'
import { Host } from './host.tsx'
import { ClockIcon } from './icons.tsx'
import { Notice } from './notices.tsx'
import type { LaterSteps } from './steps.tsx'
import type { Locale, Translate } from './texts/index.ts'
import { useView, ViewContext } from './view.ts'
import type { Week } from './week.tsx'

export interface SchedulerProps {
  api: SchedulerApi
  experience: Experience
  t: Translate
  locale: Locale
  /** The zone to begin with. */
  zone: string
  /** The only duration to offer. Default: those of the experience. */
  durationMinutes: number | undefined
  prefill: Readonly<Record<string, string>>
  /** The booking to reschedule, and its slot. */
  move: (Move & { slot: Slot }) | undefined
  emit: Emit
  /** The week, if the experience shows weeks. */
  week: typeof Week | undefined
  /** Loads what follows the choice of a slot. */
  loadSteps(): Promise<typeof LaterSteps>
}

const DEFAULT_MINUTES = 30
const MINUTE_MS = 60_000

/** The steps of a booking, beside what is booked. */
export function Scheduler(props: SchedulerProps) {
  const { api, experience, t, locale, move, emit } = props
  const [zone, setZone] = useState(props.zone)
  const { usual, all: durations } = chooseDurations(props)
  const [minutes, setMinutes] = useState(usual)
  // Without the extensions of some browsers, which are longer than the API takes.
  const language = locale.tag.replace(/-\w-.*/, '')
  const deps = { api, experience, zone, locale: language, move, emit }
  const flow = useFlow(deps)
  /** Undefined until the visitor chooses one. */
  const [clock, setClock] = useState<Clock>()
  const view = useMemo(() => ({ t, locale, formats: formats(locale.tag, zone, clock) }), [t, locale, zone, clock])
  const [hasMoved, setMoved] = useState(false)
  /** Null: they could not be loaded. */
  const [Steps, setSteps] = useState<typeof LaterSteps | null>()
  const { step } = flow
  // Loaded while the visitor reads the calendar.
  useEffect(() => {
    props.loadSteps().then(
      (loaded) => setSteps(() => loaded),
      () => setSteps(null),
    )
  }, [])
  if (step.name !== 'choose' && !hasMoved) setMoved(true)
  return (
    <ViewContext value={view}>
      <div class="card">
        <aside class="about">
          <Host value={experience.ui?.host} />
          <slot name="heading">
            <h2>
              <bdi>{chooseTitle(experience)}</bdi>
            </h2>
            <p class="description">
              <bdi>{chooseDescription(experience)}</bdi>
            </p>
          </slot>
          {step.name !== 'done' && <Facts minutes={minutes} />}
          {move !== undefined && step.name === 'choose' && (
            <p class="now">{t('moveFrom', { time: formatTime(view.formats, move.slot) })}</p>
          )}
        </aside>
        <div class="step">
          {step.name === 'choose' && (
            <>
              {durations.length > 1 && <Durations durations={durations} minutes={minutes} onMinutes={setMinutes} />}
              <Choice
                api={api}
                experience={experience}
                flow={flow}
                zone={zone}
                durationMinutes={minutes}
                onZone={setZone}
                clock={clock ?? usualClock(locale.tag)}
                onClock={setClock}
                takesFocus={hasMoved}
                key={minutes}
                week={props.week}
              />
            </>
          )}
          {step.name !== 'choose' &&
            (Steps ? (
              <Steps deps={deps} flow={flow} move={move} prefill={props.prefill} />
            ) : (
              // After an upgrade the page names a file that no longer exists.
              Steps === null && (
                <Notice text={t('failed')} action={{ label: t('retry'), run: () => location.reload() }} />
              )
            ))}
        </div>
      </div>
    </ViewContext>
  )
}

function Facts({ minutes }: { minutes: number }) {
  const { formats } = useView()
  return (
    <p class="length">
      <ClockIcon />
      <span>{formats.minutes(minutes)}</span>
    </p>
  )
}

interface DurationsProps {
  durations: readonly number[]
  minutes: number
  onMinutes(minutes: number): void
}

function Durations({ durations, minutes, onMinutes }: DurationsProps) {
  const { t, formats } = useView()
  const id = useId()
  return (
    <fieldset class="durations">
      <legend class="unseen">{t('duration')}</legend>
      {durations.map((count) => (
        <label key={count} class={count === minutes ? 'chosen' : ''}>
          <input type="radio" name={id} checked={count === minutes} onChange={() => onMinutes(count)} />
          {formats.shortMinutes(count)}
        </label>
      ))}
    </fieldset>
  )
}

/** The durations to choose from, and the usual one. */
function chooseDurations({ experience, durationMinutes, move }: SchedulerProps): {
  usual: number
  all: readonly number[]
} {
  const { durationMinutes: usual = DEFAULT_MINUTES, durations = [usual] } = experience
  const fixed =
    move === undefined ? durationMinutes : (Date.parse(move.slot.end) - Date.parse(move.slot.start)) / MINUTE_MS
  return fixed === undefined ? { usual, all: durations } : { usual: fixed, all: [fixed] }
}

const chooseDescription = ({ ui, description = '' }: Experience) =>
  textIn(asRecord(ui?.copy), 'description') ?? description
