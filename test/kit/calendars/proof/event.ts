import { DAY_MS, formatLocal } from '../../../../src/platform/calendar/days.ts'
import type { Choices } from './choices.ts'
import type { DescribedChange, DescribedEvent, DescribedTimes, GeneratedEvent, Shape } from './described.ts'
import { type Place, ZONE_NAMES, zoneNamed } from './place.ts'
import { type Repetition, randomRepetition } from './repetition.ts'
import { chooseZone, exists, startNear, type TimeForm, timesAt, toLocal, wallText } from './times.ts'
import { randomWriting } from './writing.ts'

const FORMS: readonly TimeForm[] = ['times', 'times', 'times', 'times', 'times', 'days', 'days', 'floating', 'own']
const STATES = ['busy', 'busy', 'busy', 'busy', 'free', 'tentative', 'declined', 'cancelled'] as const
const HOUR_MS = 3_600_000

/** An event of some kinds near the clock change of the place. */
export function randomEvent(choices: Choices, place: Place, uid: string): GeneratedEvent {
  const form = choices.pick(FORMS)
  const zone = chooseZone(choices, place, form)
  const state = choices.pick(STATES)
  const kinds = [KIND_OF_FORM[form], ...(state === 'busy' ? [] : [state])]
  const rest = { state, added: [], excluded: [], exceptions: [] }
  if (choices.is(0.25)) {
    const { kind, times } = singleTimes(choices, place, form, zone)
    const event: DescribedEvent = { ...rest, uid, times, rule: null, pattern: null }
    return written(choices, place, form, { event, kinds: [...kinds, kind] })
  }
  const seriesZone = zone ?? place.zone
  const range = { from: place.changeLocalMs - 10 * DAY_MS, to: place.changeLocalMs + 17 * DAY_MS }
  const nearMs = startNear(choices, place, form, 40)
  const series = randomRepetition(choices, nearMs, { zone: seriesZone, isAllDay: form === 'days', range })
  const { startMs, rule, pattern } = series
  const lists = chooseChanges(choices, place, form, zone, series)
  const times = timesAt(choices, startMs, { form, zone })
  const event: DescribedEvent = { ...rest, ...lists, uid, times, rule, pattern }
  const listKinds = kindsOfLists(event)
  return written(choices, place, form, { event, kinds: [...kinds, ...series.kinds, ...listKinds] })
}

const KIND_OF_FORM = { times: 'in a zone', days: 'all-day', floating: 'floating', own: 'in a zone of its own' }

function singleTimes(
  choices: Choices,
  place: Place,
  form: TimeForm,
  zone: string | null,
): { kind: string; times: DescribedTimes } {
  const startMs = startNear(choices, place, form, 9)
  if (form !== 'times') return { kind: 'single', times: timesAt(choices, startMs, { form, zone }) }
  const secondMs = zoneNamed(place.zone).toLocal(place.changeMs)
  if (secondMs < place.changeLocalMs && choices.is(0.3)) {
    const start = formatLocal(secondMs)
    const end = formatLocal(secondMs + 2 * HOUR_MS)
    return { kind: 'second of two', times: { start, end, zone: place.zone, endZone: null, isSecond: true } }
  }
  if (choices.is(0.2)) {
    const endZone = choices.pick(ZONE_NAMES)
    return { kind: 'from zone to zone', times: timesAt(choices, startMs, { form, zone, endZone }) }
  }
  return { kind: 'single', times: timesAt(choices, startMs, { form, zone }) }
}

function chooseChanges(
  choices: Choices,
  place: Place,
  form: TimeForm,
  zone: string | null,
  { startMs, nearby, pattern }: Repetition,
): Pick<DescribedEvent, 'added' | 'excluded' | 'exceptions'> {
  const isAllDay = form === 'days'
  const chosen = nearby.length > 0 && choices.is(0.6) ? choices.some(nearby, 5) : []
  const isExcluded = chosen.map(() => choices.is(0.4))
  const excluded = chosen.filter((_, index) => isExcluded[index]).map((ms) => wallText(ms, isAllDay))
  const exceptions = chosen
    .filter((_, index) => !isExcluded[index])
    .map((ms) => chooseChange(choices, place, form, zone, ms))
  const mayAdd = pattern === null && choices.is(0.3)
  const added = mayAdd ? [1, 2].map(() => wallText(startNear(choices, place, form, 9), isAllDay)) : []
  const mayBe = (wall: string) =>
    toLocal(wall) >= startMs && (form === 'own' || exists(toLocal(wall), zone ?? place.zone))
  return { added: added.filter(mayBe), excluded, exceptions }
}

function chooseChange(
  choices: Choices,
  place: Place,
  form: TimeForm,
  zone: string | null,
  originalMs: number,
): DescribedChange {
  const original = wallText(originalMs, form === 'days')
  const isFree = choices.is(0.2)
  if (choices.is(0.3)) return { original, times: null, isFree }
  const movedMs =
    form === 'days'
      ? originalMs + choices.whole(-3, 3) * DAY_MS
      : originalMs + choices.pick([0, HOUR_MS / 4, HOUR_MS, -2 * HOUR_MS, DAY_MS, -3 * DAY_MS, 30 * DAY_MS])
  if (form === 'days' && choices.is(0.2)) {
    const atTen = timesAt(choices, movedMs + 10 * HOUR_MS, { form: 'times', zone: place.zone })
    return { original, times: atTen, isFree }
  }
  const isElsewhere = form === 'times' && choices.is(0.3)
  const changedZone = isElsewhere ? chooseZone(choices, place, form) : zone
  return { original, times: timesAt(choices, movedMs, { form, zone: changedZone }), isFree }
}

function kindsOfLists({ added, excluded, exceptions }: DescribedEvent): string[] {
  return [
    ...(added.length > 0 ? ['added dates'] : []),
    ...(excluded.length > 0 ? ['excluded dates'] : []),
    ...(exceptions.some(({ times }) => times !== null) ? ['moved'] : []),
    ...(exceptions.some(({ times }) => times === null) ? ['cancelled instances'] : []),
  ]
}

function written(
  choices: Choices,
  place: Place,
  form: TimeForm,
  { event, kinds }: { event: DescribedEvent; kinds: string[] },
): GeneratedEvent {
  const { writing, kinds: ofWriting } = randomWriting(choices, place, form, event)
  const shapes = chooseShapes(event, form, writing.rangeIndex, place)
  return { event, writing, kinds: { event: kinds, writing: ofWriting }, shapes }
}

/** The providers that can have such an event. */
function chooseShapes(
  { times, rule, pattern, added }: DescribedEvent,
  form: TimeForm,
  rangeIndex: number | null,
  place: Place,
): Shape[] {
  const isForeign = form === 'floating' || form === 'own' || rangeIndex !== null
  // Providers return the first instance of a series at a time that clocks show.
  const isSkipped = rule !== null && form === 'times' && !exists(toLocal(times.start), times.zone ?? place.zone)
  if (isForeign || isSkipped) return ['caldav']
  const isOfOutlook = (rule === null || pattern !== null) && added.length === 0
  return isOfOutlook ? ['caldav', 'google', 'microsoft'] : ['caldav', 'google']
}
