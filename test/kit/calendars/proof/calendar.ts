import type { TimeRange } from '../../../../src/providers/contract/index.ts'
import type { Choices } from './choices.ts'
import type { DescribedEvent, GeneratedEvent, Shape } from './described.ts'
import { randomEvent } from './event.ts'
import { googleItems } from './google.ts'
import { graphItem } from './graph.ts'
import { buildObject } from './ics.ts'
import { choosePlace, ZONE_NAMES } from './place.ts'

/** Some events, as Python reads them and as one provider returns them. */
export interface Unit {
  kinds: string[]
  /** The input for Python. */
  input: string | DescribedEvent
  /** The provider's response: the text of an object, or the resources of its API. */
  written: string | Record<string, unknown>[]
}

/** Open hours, in minutes of a day. 0 is Monday. */
export interface SlotQuestion {
  zone: string
  days: number[]
  opens: number
  closes: number
  step: number
  length: number
  before: number
  after: number
}

export interface GeneratedCalendar {
  number: number
  zone: string
  window: TimeRange
  shapes: Record<Shape, Unit[]>
  slots: SlotQuestion
}

const MOST_EVENTS = 6

export function randomCalendar(choices: Choices, number: number): GeneratedCalendar {
  const place = choosePlace(choices)
  const events = Array.from({ length: choices.whole(2, MOST_EVENTS) }, (_, index) =>
    randomEvent(choices, place, `event-${number}-${index}`),
  )
  const { zone, window } = place
  const ofShape = (shape: Shape) => events.filter(({ shapes }) => shapes.includes(shape))
  const shapes: GeneratedCalendar['shapes'] = {
    caldav: buildUnits(choices, events, zone),
    google: ofShape('google').map(({ kinds, event }) => ({
      kinds: kinds.event,
      input: event,
      written: googleItems(choices, event, zone),
    })),
    microsoft: ofShape('microsoft').map(({ kinds, event }) => ({
      kinds: kinds.event,
      input: event,
      written: [graphItem(choices, event, zone)],
    })),
  }
  return { number, zone, window, shapes, slots: randomQuestion(choices, zone) }
}

/** One object per event, or sometimes for two. */
function buildUnits(choices: Choices, events: readonly GeneratedEvent[], zone: string): Unit[] {
  const units: Unit[] = []
  for (let index = 0; index < events.length; ) {
    const isPair = index + 1 < events.length && choices.is(0.1)
    const own = events.slice(index, index + (isPair ? 2 : 1))
    const isOneZone = new Set(own.map(({ writing }) => writing.zone)).size === own.length || !own.some(hasOwnZone)
    const taken = isOneZone ? own : own.slice(0, 1)
    const text = buildObject(taken, zone)
    const kinds = [
      ...taken.flatMap((each) => [...each.kinds.event, ...each.kinds.writing]),
      ...(taken.length > 1 ? ['several UIDs'] : []),
    ]
    units.push({ kinds: [...new Set(kinds)], input: text, written: text })
    index += taken.length
  }
  return units
}

/** Two zones of the same name cannot be in an object. */
function hasOwnZone({ writing }: GeneratedEvent): boolean {
  return writing.zone === 'own' || writing.zone === 'stale'
}

function randomQuestion(choices: Choices, calendarZone: string): SlotQuestion {
  const weekdays = [0, 1, 2, 3, 4, 5, 6]
  const opens = choices.pick([0, 60, 120, 150, 540, 600, 1320])
  return {
    zone: choices.is(0.6) ? calendarZone : choices.pick(ZONE_NAMES),
    days: choices.is(0.5) ? weekdays : choices.some(weekdays, 5),
    opens,
    closes: choices.pick([150, 180, 240, 1020, 1440].filter((minutes) => minutes !== opens)),
    step: choices.pick([15, 20, 30, 60]),
    length: choices.pick([15, 30, 45, 60, 120]),
    before: choices.pick([0, 0, 10, 30]),
    after: choices.pick([0, 0, 5, 15]),
  }
}
