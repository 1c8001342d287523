import './scheduler.css'
import { Alert, Button, Group, Paper, Skeleton, Tabs, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { api, apiUrl } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Experience } from '../../api/types.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { IconCalendar, IconExternalLink, IconTriangleAlert } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { AsJson } from './as-json.tsx'
import { Callbacks } from './callbacks.tsx'
import { type Draft, toDraft } from './draft.ts'
import { Embed } from './embed.tsx'
import { Form } from './form/form.tsx'
import { General } from './general.tsx'
import { Hours } from './hours/hours.tsx'
import { Look } from './look.tsx'
import { Preview } from './preview.tsx'

const PARENT = { href: '/scheduler', label: 'Scheduler' }
const TABS = {
  general: 'General',
  hours: 'Hours',
  form: 'Form',
  callbacks: 'Callbacks',
  look: 'Appearance',
  share: 'Preview and embed',
  json: 'JSON',
} as const

export default function ExperiencePage({ slug }: { slug: string }) {
  const path = `/scheduler/experiences/${encodeURIComponent(slug)}`
  const { data, error, refetch } = useRead<Experience>(path)
  if (data === undefined) {
    return (
      <Page title="Experience" parent={PARENT}>
        {error === null ? (
          <Skeleton height={420} />
        ) : (
          <Problem title="This experience cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  return <Editor path={path} experience={data} />
}

/** Typed changes stay here until they are saved or discarded; the experience may be read again meanwhile. */
function Editor({ path, experience }: { path: string; experience: Experience }) {
  const [{ tab }, setUrl] = useUrlState(['tab'])
  const [changes, setChanges] = useState<Partial<Draft>>({})
  const client = useQueryClient()
  const stored = toDraft(experience)
  const draft: Draft = { ...stored, ...changes }
  const changedNames = (Object.keys(changes) as (keyof Draft)[]).filter(
    (name) => JSON.stringify(changes[name]) !== JSON.stringify(stored[name]),
  )
  const isDirty = changedNames.length > 0
  const save = useAction(
    () => api.patch<Experience>(path, Object.fromEntries(changedNames.map((name) => [name, draft[name]]))),
    {
      invalidates: ['/scheduler'],
      done: 'The experience was saved.',
      toastError: false,
      onDone(saved) {
        client.setQueryData(['api', path, {}], saved)
        setChanges({})
      },
    },
  )
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isDirty])
  const tabs = useRef<HTMLDivElement>(null)
  // On phones the list of tabs scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another element.
  useEffect(() => {
    tabs.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  const part = { draft, set: (more: Partial<Draft>) => setChanges((previous) => ({ ...previous, ...more })) }
  return (
    <Page
      title={experience.name}
      parent={PARENT}
      badge={
        <Status tone={experience.isActive ? 'good' : 'quiet'}>{experience.isActive ? 'Active' : 'Inactive'}</Status>
      }
      actions={
        <>
          <Button
            component={Link}
            href={`/bookings?experienceSlug=${experience.slug}`}
            variant="default"
            leftSection={<IconCalendar size={16} />}
          >
            Bookings
          </Button>
          <CopyButton value={experience.bookingUrl}>Copy link</CopyButton>
          {/* Guests find no page while the experience is inactive. */}
          {experience.isActive && (
            <Button
              component="a"
              href={apiUrl(`/book/${experience.slug}`)}
              target="_blank"
              rel="noreferrer"
              leftSection={<IconExternalLink size={16} />}
            >
              Open page
            </Button>
          )}
        </>
      }
    >
      {experience.mailLimit !== undefined && <MailLimit limit={experience.mailLimit} />}
      {save.error !== null && <Problem title="The experience could not be saved" error={save.error} />}
      <Tabs
        value={Object.hasOwn(TABS, tab) ? tab : 'general'}
        onChange={(value) => setUrl({ tab: value === 'general' ? '' : value })}
        keepMounted={false}
      >
        <Tabs.List mb="lg" className="tab-list" ref={tabs}>
          {Object.entries(TABS).map(([name, label]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="general">
          <General {...part} />
        </Tabs.Panel>
        <Tabs.Panel value="hours">
          <Hours {...part} />
        </Tabs.Panel>
        <Tabs.Panel value="form">
          <Form {...part} />
        </Tabs.Panel>
        <Tabs.Panel value="callbacks">
          <Callbacks {...part} />
        </Tabs.Panel>
        <Tabs.Panel value="look">
          <Look {...part} />
        </Tabs.Panel>
        <Tabs.Panel value="share">
          <div className="stack">
            <Preview experience={experience} isDirty={isDirty} />
            <Embed experience={experience} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <AsJson {...part} />
        </Tabs.Panel>
      </Tabs>
      {isDirty && (
        <Paper withBorder shadow="md" p="sm" className="save-bar" component="section" aria-label="Unsaved changes">
          <Group justify="space-between">
            <Text size="sm" fw={550} role="status">
              You have changes that are not saved.
            </Text>
            <Group gap="xs">
              <Button
                variant="default"
                onClick={() => {
                  setChanges({})
                  save.reset()
                }}
              >
                Discard
              </Button>
              <Button loading={save.isPending} onClick={() => save.mutate()}>
                Save
              </Button>
            </Group>
          </Group>
        </Paper>
      )}
    </Page>
  )
}

type Limit = NonNullable<Experience['mailLimit']>

const BUDGETS: Readonly<Record<Limit['limit'], { name: string; setting: string }>> = {
  experience: { name: 'of this experience', setting: 'SCHEDULER_MAIL_PER_EXPERIENCE' },
  client: { name: 'of one visitor', setting: 'SCHEDULER_MAIL_PER_CLIENT' },
  account: { name: 'of the account of a host', setting: 'SCHEDULER_MAIL_PER_ACCOUNT' },
  address: { name: 'of one recipient', setting: 'SCHEDULER_MAIL_PER_ADDRESS' },
}

/** Strangers used up a budget of messages: who, since when, and what to do about it. */
function MailLimit({ limit }: { limit: Limit }) {
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
