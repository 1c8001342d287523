import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../api/queries.ts'
import type { Account, Connection } from '../../api/types.ts'

/** With whose credentials the mailbox is opened, unless it has credentials of its own. */
export function Access({ account: { connectionId, sharedWith } }: { account: Account }) {
  if (connectionId !== null) return <OfConnection connectionId={connectionId} />
  return sharedWith === null ? null : <OfAccount accountId={sharedWith} />
}

function OfConnection({ connectionId }: { connectionId: string }) {
  const path = `/connections/${encodeURIComponent(connectionId)}`
  const { data } = useRead<Connection>(path, {}, { pollMs: false })
  return (
    <>
      opened by the connection{' '}
      <Anchor component={Link} href={path} inherit underline="always">
        {data?.name ?? connectionId}
      </Anchor>
    </>
  )
}

function OfAccount({ accountId }: { accountId: string }) {
  const path = `/accounts/${encodeURIComponent(accountId)}`
  const { data } = useRead<Account>(path, {}, { pollMs: false })
  return (
    <>
      opened with the sign-in of{' '}
      <Anchor component={Link} href={path} inherit underline="always">
        {data?.email ?? accountId}
      </Anchor>
    </>
  )
}
