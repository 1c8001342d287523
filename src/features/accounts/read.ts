import { sql } from 'kysely'
import type { Handle } from '../../infra/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'

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
