import type { Handle, Tx } from './db.ts'

/** Values of the whole service by name, such as the key ring of a shared database. */
interface ServiceStateTable {
  name: string
  value: string
}

declare module './db.ts' {
  interface Tables {
    serviceState: ServiceStateTable
  }
}

/** Returns the value, or stores and returns `makeValue()` if there is none. Concurrent replicas get the same value. */
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

/** Takes a lock over all replicas until the transaction ends. Take it before any row lock, else deadlocks are possible. */
export async function lockState(tx: Tx, name: string): Promise<void> {
  await setState(tx, name, '')
}
