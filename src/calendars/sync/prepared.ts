import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import type { Ids } from '../../platform/ids.ts'
import type { EventStep, RemoteEvent, TimeRange } from '../../providers/contract/index.ts'
import { placementOf } from '../instance-rows.ts'
import { searchTextOf } from '../search-text.ts'
import type { CalendarRow, Placement } from '../store.ts'

/** The row of a new event that is no exception and has none, and when it takes place. */
export interface PreparedEvent {
  id: string
  content: string
  searchText: string
  placement: Placement
}

/** Instances that are computed ahead for one step. Those of its other events are computed when they are stored. */
const MAX_INSTANCES = 10_000

export type PreparedEvents = ReadonlyMap<RemoteEvent, PreparedEvent>

export interface PreparedStep {
  step: EventStep
  prepared: PreparedEvents | undefined
}

/** Computes the rows of a first sync. Behind a `readAhead`, this happens while PostgreSQL inserts earlier ones. */
export async function* prepareSteps(
  steps: AsyncIterable<EventStep>,
  { ids, calendar, window }: { ids: Ids; calendar: CalendarRow; window: TimeRange },
): AsyncGenerator<PreparedStep, void> {
  for await (const step of steps) {
    const prepared = new Map<RemoteEvent, PreparedEvent>()
    const changed = new Set(step.found.map(({ recurringEventId }) => recurringEventId))
    let instances = 0
    for (const event of step.found) {
      if (instances >= MAX_INSTANCES) break
      if (event.recurringEventId !== null || event.status === 'cancelled' || changed.has(event.eventId)) continue
      const row = { id: ids('cev'), content: cleanJson(event) }
      const placement = placementOf(row, [], calendar, window)
      instances += placement.instances.length
      prepared.set(event, { ...row, searchText: searchTextOf(event), placement })
      await yieldIfHeld(TURN_MS)
    }
    yield { step, prepared }
  }
}

/** Later syncs find few events, most of which are stored. */
export async function* unprepared(steps: AsyncIterable<EventStep>): AsyncGenerator<PreparedStep, void> {
  for await (const step of steps) yield { step, prepared: undefined }
}
