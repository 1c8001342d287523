import type { Handle, Tx } from './db.ts'

/** Small facts of the whole service: the key ring of a shared database, its canary. */
interface ServiceStateTable {
  name: string
  value: string
}

declare module './db.ts' {
  interface Tables {
    serviceState: ServiceStateTable
  }
}

/** Reads a fact, or stores `makeValue()` when there is none yet; replicas that race get the same value. */
export async function stateOr(handle: Handle, name: string, makeValue: () => string): Promise<string> {
  const existing = await findState(handle, name)
  if (existing !== undefined) return existing
  await handle
    .insertInto('serviceState')
    .values({ name, value: makeValue() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return (await findState(handle, name)) ?? stateOr(handle, name, makeValue)
}

export async function findState(handle: Handle, name: string): Promise<string | undefined> {
  const row = await handle.selectFrom('serviceState').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

export async function setState(handle: Handle, name: string, value: string): Promise<void> {
  await handle
    .insertInto('serviceState')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** A lock over all replicas, held until the transaction ends. Take it before any row's lock. */
export async function lockState(tx: Tx, name: string): Promise<void> {
  await setState(tx, name, '')
}
