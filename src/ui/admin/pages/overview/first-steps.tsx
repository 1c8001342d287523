import { Button, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Health, Overview } from '../../api/types.ts'
import { IconArrowRight, IconCheck } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'

/** Guides through a fresh installation. Disappears when everything is done. */
export function FirstSteps({ overview, health }: { overview: Overview; health: Health }) {
  const steps = [
    {
      title: 'Connect the first mailbox',
      text: 'With a link for its owner, or your own mailbox right here.',
      isDone: overview.accounts.total > 0,
      action: { href: '/accounts?connect=1', label: 'Connect a mailbox' },
    },
    {
      title: 'Receive events in your application',
      text: 'A webhook endpoint gets every new message, booking and change as a signed request.',
      isDone: overview.endpoints.total > 0,
      action: { href: '/webhooks?create=1', label: 'Add an endpoint' },
    },
    {
      title: 'See an event arrive',
      text: 'Send a message to the mailbox, or a test event to the endpoint.',
      isDone: overview.hours.some(({ delivered }) => delivered > 0),
      action: { href: '/webhooks', label: 'Send a test event' },
    },
  ]
  const isFresh = overview.accounts.total === 0 || overview.endpoints.total === 0
  if (!isFresh || !health.onboarding.canProceed) return null
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
    <Section title="Get started" description="Three steps to the first event in your application.">
      <Stack gap="md" component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {steps.map(({ title, text, isDone, action }, index) => (
          <Step key={title} number={index + 1} isDone={isDone} title={title} text={text}>
            {index === next && (
              <Button component={Link} href={action.href} size="compact-md" rightSection={<IconArrowRight size={14} />}>
                {action.label}
              </Button>
            )}
          </Step>
        ))}
      </Stack>
    </Section>
  )
}

function Step({
  number,
  isDone,
  title,
  text,
  children,
}: {
  number: number
  isDone: boolean
  title: string
  text: string
  children: ReactNode
}) {
  return (
    <Group component="li" justify="space-between" gap="sm">
      <Group gap="md" wrap="nowrap" align="flex-start">
        <ThemeIcon radius="xl" size={28} variant={isDone ? 'filled' : 'light'} color={isDone ? 'teal.8' : 'gray'}>
          {isDone ? (
            <IconCheck size={16} />
          ) : (
            <Text size="sm" fw={600}>
              {number}
            </Text>
          )}
        </ThemeIcon>
        <div>
          <Text fw={600}>
            {title}
            {isDone && (
              <Text span inherit c="dimmed" fw={400}>
                {' '}
                · done
              </Text>
            )}
          </Text>
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        </div>
      </Group>
      {children}
    </Group>
  )
}
