import { Alert, Code, List, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import type { Calendar } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { type Icon, IconTriangleAlert } from '../../parts/icons.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Failure = NonNullable<Calendar['failure']>

/** In the row of a calendar or an address book: what sync cannot read. `unreadable`: `2 contacts`. */
export function ReadingState({ failure, unreadable }: { failure: Failure | null; unreadable: string | false }) {
  return (
    <>
      {failure !== null && <Status tone="bad">Not readable</Status>}
      {unreadable !== false && <Status tone="warn">{`${unreadable} not readable`}</Status>}
    </>
  )
}

/** Why sync cannot read a calendar or an address book at the moment. `children`: what that means. */
export function Failing({ failure, title, children }: { failure: Failure; title: string; children: ReactNode }) {
  const { reason, since, attempts, nextAttemptAt } = failure
  return (
    <Alert mb="md" color="red" icon={<IconTriangleAlert />} title={title}>
      <Text size="sm" className="wrap">
        {reason}
      </Text>
      <Text size="sm" mt="xs">
        {children}
      </Text>
      <Text size="sm" mt="xs">
        First failure: <Time value={since} /> ({attempts === 1 ? '1 attempt' : `${attempts} attempts`}). Next attempt:{' '}
        <Time value={nextAttemptAt} />, or at once with <b>Sync now</b>.
      </Text>
    </Alert>
  )
}

interface UnreadableItems {
  title: string
  count: number
  /** The first of them. */
  items: readonly { id: string; reason: string }[]
  /** What that means, and what to do. */
  children: ReactNode
}

/** Lists items of a calendar or an address book that sync could not read. */
export function Unreadable({ title, count, items, children }: UnreadableItems) {
  return (
    <Alert mb="md" color="orange" icon={<IconTriangleAlert />} title={title}>
      <Text size="sm">{children}</Text>
      <List size="sm" mt="xs">
        {items.map(({ id, reason }) => (
          <List.Item key={id} className="wrap">
            {reason} <Code>{id}</Code>
          </List.Item>
        ))}
        {count > items.length && <List.Item>And {count - items.length} more. The log names them.</List.Item>}
      </List>
    </Alert>
  )
}

/** In place of the list, when the account may not read it. Undefined for other errors. */
export function explainNoConsent({ code, message }: ApiError, title: string, icon: Icon): ReactNode {
  if (code !== 'consent_required') return undefined
  return (
    <Paper withBorder>
      <Empty icon={icon} title={title}>
        {message}
      </Empty>
    </Paper>
  )
}
