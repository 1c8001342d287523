import type { RemoteEvent } from '../../../providers/contract/index.ts'
import { ensureNotStale, findExceptions, type StepState } from './step-state.ts'

/** Deletes an event. A master takes its exceptions with it; its event speaks for them. */
export async function removeEvent(state: StepState, providerId: string): Promise<void> {
  const { nowMs, later, store, rows, added, stale, changes } = state
  const row = rows.get(providerId) ?? (await store.find(providerId))
  if (row === undefined) {
    // An invitation to some instances of a series: there is no master.
    for (const orphan of await findExceptions(state, providerId)) await removeEvent(state, orphan.providerId)
    return
  }
  if (row.providerId !== providerId) return
  ensureNotStale(state, row.apiChange)
  rows.delete(providerId)
  const exceptions = row.isSeries === 1 ? await findExceptions(state, providerId) : []
  added.delete(row.id)
  const removedIds = [row.id, ...exceptions.map(({ id }) => id)]
  await store.remove(removedIds)
  for (const id of removedIds) later?.delete(id)
  for (const exception of exceptions) rows.delete(exception.providerId)
  stale.delete(providerId)
  if (row.masterProviderId !== null) stale.add(row.masterProviderId)
  const content: RemoteEvent = { ...JSON.parse(row.content), status: 'cancelled' }
  for (const id of content.siblings ?? []) await removeEvent(state, id)
  if (row.status === 'cancelled') return
  const deleted = { ...row, status: 'cancelled' as const, version: row.version + 1, updatedAt: nowMs }
  changes.push({ type: 'calendar.event.deleted', row: deleted, content })
}

/** Deletes the stored exceptions of a series that the provider returned with all of its exceptions. */
export async function removeOtherExceptions(state: StepState, masterId: string): Promise<void> {
  const current = new Set((state.exceptions.get(masterId) ?? []).map(({ eventId }) => eventId))
  for (const { providerId } of await findExceptions(state, masterId)) {
    if (!current.has(providerId)) await removeEvent(state, providerId)
  }
}
