import { Button, CloseButton, Group, Progress, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { Link } from 'wouter'
import type { Overview } from '../../api/types.ts'
import { IconArrowRight, IconCheck } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'

interface Step {
  title: string
  text: string
  isDone: boolean
  action: { href: string; label: string }
}

function steps({ accounts, endpoints, hasExperience }: Overview): Step[] {
  return [
    {
      title: 'Connect a mailbox',
      text: 'With a link for its owner, or your own mailbox right here.',
      isDone: accounts.total > 0,
      action: { href: '/accounts?connect=1', label: 'Connect a mailbox' },
    },
    {
      title: 'Add an endpoint',
      text: 'The URL at which your application receives new messages, bookings and changes.',
      isDone: endpoints.total > 0,
      action: { href: '/webhooks?create=1', label: 'Add an endpoint' },
    },
    {
      title: 'See an event arrive',
      text: 'Send a message to the mailbox, or a test event to the endpoint.',
      isDone: endpoints.hasDelivered,
      action: { href: '/webhooks', label: 'Send a test event' },
    },
    {
      title: 'Make an experience',
      text: 'A booking page on which guests choose a free time of your calendars.',
      isDone: hasExperience,
      action: { href: '/scheduler?create=1', label: 'Create an experience' },
    },
  ]
}

/** Guides through a fresh installation. Disappears when everything is done, or when the viewer hides it. */
export function Checklist({ overview }: { overview: Overview }) {
  const [isHidden, setHidden] = useLocalStorage({
    key: 'posthorn.checklist-hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const all = steps(overview)
  const done = all.filter(({ isDone }) => isDone).length
  if (isHidden || done === all.length) return null
  const next = all.findIndex(({ isDone }) => !isDone)
  return (
    <Section
      title="Get started"
      description={`${done} of ${all.length} steps are done.`}
      actions={<CloseButton aria-label="Hide these steps" onClick={() => setHidden(true)} />}
    >
      <Progress value={(100 * done) / all.length} size="sm" mb="md" aria-label="Steps that are done" />
      <ol className="checklist">
        {all.map(({ title, text, isDone, action }, index) => (
          <li key={title} data-done={isDone || undefined}>
            <span className="checklist-mark" aria-hidden="true">
              {isDone ? <IconCheck size={14} /> : index + 1}
            </span>
            <div>
              <Text size="sm" fw={600}>
                {title}
                {isDone && (
                  <Text span inherit c="dimmed" fw={400}>
                    {' '}
                    · done
                  </Text>
                )}
              </Text>
              {!isDone && (
                <Text size="sm" c="dimmed">
                  {text}
                </Text>
              )}
            </div>
            {index === next && (
              <Group className="checklist-action">
                <Button component={Link} href={action.href} size="xs" rightSection={<IconArrowRight size={14} />}>
                  {action.label}
                </Button>
              </Group>
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}
