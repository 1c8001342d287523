import { sql } from 'kysely'
import type { Handle } from '../../infra/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'

/** The living instances that own some of these accounts, with what they own, in order. What nobody owns is left out: its next owner looks first. */
export async function ownersOf(handle: Handle, accountIds: readonly string[]): Promise<Map<string, string[]>> {
  const owners = new Map<string, string[]>()
  if (accountIds.length === 0) return owners
  const rows = await handle
    .selectFrom('accounts')
    .innerJoin('instances', 'instances.id', 'accounts.ownerInstance')
    .select(['accounts.id', 'instances.id as owner'])
    .where('accounts.id', 'in', accountIds)
    .orderBy('instances.id')
    .orderBy('accounts.id')
    .execute()
  for (const { id, owner } of rows) owners.set(owner, [...(owners.get(owner) ?? []), id])
  return owners
}

/** Every account of a provider with one of these addresses, however they are written. */
export async function accountsAt(
  handle: Handle,
  provider: ProviderName,
  addresses: readonly string[],
): Promise<string[]> {
  if (addresses.length === 0) return []
  const rows = await handle
    .selectFrom('accounts')
    .select('id')
    .where(
      sql`lower("email")`,
      'in',
      addresses.map((address) => address.toLowerCase()),
    )
    .where('provider', '=', provider)
    .execute()
  return rows.map(({ id }) => id)
}
