import type { Bus } from '../platform/bus/index.ts'
import { compiledOnce, insertRows, type Tx } from '../platform/db/index.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { cleanJson } from '../platform/formats/text.ts'
import type { Ids } from '../platform/ids.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { EventCatalogue, NewEvent } from './catalogue.ts'

export const MAX_DATA_BYTES = 256 * 1024

/** Bus topic: a transaction that recorded events was committed. */
export const EVENTS_TOPIC = 'events'

/** Bus topic: more events have a position. */
export const STAMPED_TOPIC = 'events.stamped'

export interface Recorder {
  /**
   * Appends events in the caller's transaction, which also makes the change that they describe. Returns their ids in order and
   * numbers the events of each account without gaps. Throws when a type is not declared or `data` is over 256 KB: the caller
   * knows which part to omit.
   */
  record(tx: Tx, events: readonly NewEvent[]): Promise<string[]>
}

export function recorder(deps: { catalogue: EventCatalogue; clock: Clock; ids: Ids; bus: Bus }): Recorder {
  return {
    async record(tx, events) {
      if (events.length === 0) return []
      for (const { type } of events) deps.catalogue.get(type)
      const nextSequence = await reserveSequences(tx, events)
      const createdAt = deps.clock.now()
      const rows = events.map((event) => ({
        id: deps.ids('evt'),
        type: event.type,
        accountId: event.accountId,
        provider: event.provider,
        sequence: event.accountId === null ? null : nextSequence(event.accountId),
        objectId: event.objectId,
        version: event.version,
        data: dataText(event),
        position: null,
        fanOut: event.fanOut === false ? 0 : 1,
        createdAt,
      }))
      await insertRows(tx, 'events', rows)
      tx.afterCommit(() => deps.bus.publish(EVENTS_TOPIC))
      return rows.map((row) => row.id)
    },
  }
}

function dataText(event: NewEvent): string {
  const text = cleanJson(event.data)
  if (Buffer.byteLength(text) > MAX_DATA_BYTES) {
    throw new AppError('internal', {
      cause: new Error(`data of ${event.type} for ${event.objectId} is over ${MAX_DATA_BYTES} bytes`),
    })
  }
  return text
}

const addToSequence = compiledOnce((handle, accountId: string, count: number) =>
  handle
    .insertInto('eventSequences')
    .values({ accountId, sequence: count })
    .onConflict((conflict) =>
      conflict
        .column('accountId')
        .doUpdateSet((eb) => ({ sequence: eb('eventSequences.sequence', '+', eb.ref('excluded.sequence')) })),
    )
    .returning('sequence'),
)

/** Reserves a block of sequence numbers per account. The lock on the counter row orders the writers of one account. */
async function reserveSequences(tx: Tx, events: readonly NewEvent[]): Promise<(accountId: string) => number> {
  const counts = new Map<string, number>()
  for (const { accountId } of events) if (accountId !== null) counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  const next = new Map<string, number>()
  // Sorted, so that two transactions lock several accounts in the same order and cannot deadlock.
  for (const [accountId, count] of [...counts].sort()) {
    const [last] = await addToSequence(tx, accountId, count)
    if (last === undefined) throw new Error(`the events of ${accountId} have no sequence`)
    next.set(accountId, last.sequence - count + 1)
  }
  return (accountId) => {
    const sequence = next.get(accountId) ?? 1
    next.set(accountId, sequence + 1)
    return sequence
  }
}
