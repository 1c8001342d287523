import { Alert, Text } from '@mantine/core'
import type { Experience } from '../../api/types.ts'
import { IconTriangleAlert } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'

type Limit = NonNullable<Experience['mailLimit']>

const BUDGETS: Readonly<Record<Limit['limit'], { name: string; setting: string }>> = {
  experience: { name: 'of this experience', setting: 'SCHEDULER_MAIL_PER_EXPERIENCE' },
  client: { name: 'of one visitor', setting: 'SCHEDULER_MAIL_PER_CLIENT' },
  account: { name: 'of the account of a host', setting: 'SCHEDULER_MAIL_PER_ACCOUNT' },
  address: { name: 'of one recipient', setting: 'SCHEDULER_MAIL_PER_ADDRESS' },
}

/** Strangers used up a budget of messages: who, since when, and what to do about it. */
export function MailLimit({ limit }: { limit: Limit }) {
  const { name, setting } = BUDGETS[limit.limit]
  const count = limit.refusedRequests
  return (
    <Alert color="yellow" icon={<IconTriangleAlert />} title="Bookings were refused to protect strangers" mb="lg">
      <Text size="sm">
        {`The budget ${name} for messages to addresses that nobody has verified was used up `}
        <Time value={limit.limitedAt} />
        {`. ${count.toLocaleString()} ${count === 1 ? 'request was' : 'requests were'} refused since. `}
        {`If the guests are real, require a code (verifyEmail in the form), or raise ${setting}.`}
      </Text>
    </Alert>
  )
}
