import { formatLocal } from '../../../../src/platform/calendar/days.ts'
import type { Choices } from './choices.ts'
import type { DescribedEvent, Writing, ZoneForm } from './described.ts'
import { type Place, ZONES, zoneNamed } from './place.ts'
import { basic, type TimeForm } from './times.ts'
import { ownDescription } from './zone-descriptions.ts'

const QUARTER_MS = 15 * 60_000
const ZONE_FORMS: readonly ZoneForm[] = [
  'region',
  'region',
  'stale',
  'path',
  'comment',
  'dates',
  'rules',
  'outlook',
  'location',
]

/** How a calendar object writes the event, and what is special about it. */
export function randomWriting(
  choices: Choices,
  place: Place,
  form: TimeForm,
  event: DescribedEvent,
): { writing: Writing; kinds: string[] } {
  const zone = zoneForm(choices, form, event.times.zone)
  const [durationKind, duration] = chooseDuration(choices, form)
  const dates = choices.pick(form === 'own' ? (['zone', 'floating', 'date'] as const) : DATE_FORMS)
  const originals = choices.pick(form === 'own' ? (['zone', 'floating'] as const) : ORIGINAL_FORMS)
  const isRange = event.exceptions.length > 0 && choices.is(0.2)
  const isFreeForOutlook = event.state === 'free' && choices.is(0.3)
  const lines = event.rule !== null && form === 'times' && choices.is(0.2) ? [furtherLine(choices, place)] : []
  const hasOldVersions = event.exceptions.length > 0 && choices.is(0.15)
  const hasDates = event.added.length + event.excluded.length > 0
  const kinds = [
    ...(form === 'times' || form === 'own' ? [`zone: ${zone}`] : []),
    ...(duration === null ? [] : [durationKind]),
    ...(hasDates ? [`dates: ${KIND_OF_DATES[dates]}`] : []),
    ...(hasOldVersions ? ['two versions'] : []),
    ...(isRange ? ['RANGE=THISANDFUTURE'] : []),
    ...lines.map((line) => /^[^:]*?(?=;TZID|:)/.exec(line)?.[0] ?? ''),
  ]
  const writing: Writing = {
    zone,
    ownZone: form === 'own' ? ownDescription(choices, place) : [],
    duration,
    dates,
    originals,
    hasOldVersions,
    isFreeForOutlook,
    lines,
    rangeIndex: isRange ? choices.whole(0, event.exceptions.length - 1) : null,
  }
  return { writing, kinds }
}

const KIND_OF_DATES = { zone: 'in the zone', utc: 'in UTC', date: 'days', floating: 'no zone' }
const DATE_FORMS = ['zone', 'zone', 'utc', 'date', 'floating'] as const
const ORIGINAL_FORMS = ['zone', 'utc', 'floating'] as const

function zoneForm(choices: Choices, form: TimeForm, zone: string | null): ZoneForm {
  if (form === 'own') return 'own'
  if (zone === null || zone === 'UTC') return 'region'
  return choices.pick(ZONES[zone] === null ? ZONE_FORMS : [...ZONE_FORMS, 'windows', 'windows'])
}

function chooseDuration(choices: Choices, form: TimeForm): [kind: string, text: string | null] {
  if (choices.is(0.7)) return ['', null]
  if (form === 'days') return ['DURATION', choices.pick(['P1D', 'P2D', 'P1W'])]
  return choices.is(0.7)
    ? ['DURATION', choices.pick(['PT15M', 'PT1H', 'PT26H', 'PT1H30M', 'PT0S'])]
    : ['DURATION in days', choices.pick(['P1D', 'P1DT2H', 'P1W'])]
}

/** A date in UTC is often the second of two. */
function furtherLine(choices: Choices, place: Place): string {
  const utc = `${basic(formatLocal(place.changeMs + choices.whole(-3, 5) * QUARTER_MS))}Z`
  const local = basic(formatLocal(zoneNamed(place.zone).toLocal(place.changeMs) + 8 * QUARTER_MS))
  return choices.pick([
    `RDATE:${utc}`,
    `RDATE;VALUE=PERIOD:${utc}/PT45M`,
    `RDATE;VALUE=PERIOD;TZID=${place.zone}:${local}/PT2H`,
    'EXRULE:FREQ=WEEKLY;INTERVAL=2',
  ])
}
