import { ActionIcon, Alert, Button, Group, PasswordInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { CallbackEndpoint } from '../../api/types.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { IconKeyRound, IconPlus, IconTrash } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'
import { changed, type PartProps } from './draft.ts'

type Name = 'availabilityEndpoint' | 'bookingEndpoint' | 'routingEndpoint'
const ENDPOINTS: readonly { name: Name; title: string; about: string; path: string }[] = [
  {
    name: 'availabilityEndpoint',
    title: 'Availability endpoint',
    about: 'Lists the free times, instead of open hours and calendars.',
    path: 'availability',
  },
  {
    name: 'bookingEndpoint',
    title: 'Booking endpoint',
    about: 'Confirms or refuses each booking before the guest gets an answer.',
    path: 'book',
  },
  {
    name: 'routingEndpoint',
    title: 'Routing endpoint',
    about: 'Chooses hosts, another experience or a page by the answers.',
    path: 'route',
  },
]
/** The API shows this instead of a stored secret, and takes it to keep the secret. */
const MASK = '***'
const METHODS = ['POST', 'PUT', 'PATCH'] as const

/** The endpoints of the application. */
export function Callbacks({ draft, set }: PartProps) {
  return (
    <Stack gap="lg">
      {ENDPOINTS.map(({ name, title, about, path }) => (
        <Section
          key={name}
          title={title}
          description={about}
          actions={
            <Switch
              aria-label={`Use the ${title.toLowerCase()}`}
              checked={draft[name] !== null}
              onChange={(event) => set({ [name]: event.currentTarget.checked ? { url: '' } : null })}
            />
          }
        >
          {draft[name] === null ? (
            <Text size="sm" c="dimmed">
              Not used.
            </Text>
          ) : (
            <EndpointFields
              value={draft[name]}
              placeholder={`https://app.example.com/scheduler/${path}`}
              onChange={(endpoint) => set({ [name]: endpoint })}
            />
          )}
        </Section>
      ))}
    </Stack>
  )
}

function EndpointFields({
  value,
  placeholder,
  onChange,
}: {
  value: CallbackEndpoint
  placeholder: string
  onChange(value: CallbackEndpoint): void
}) {
  const [isNew, setNew] = useState(false)
  const change = (changes: { [Member in keyof CallbackEndpoint]?: CallbackEndpoint[Member] | undefined }) =>
    onChange(changed(value, changes))
  const { secret } = value
  return (
    <Stack>
      <Group align="flex-start" wrap="nowrap">
        <TextInput
          flex={1}
          label="URL"
          placeholder={placeholder}
          maxLength={2048}
          value={value.url}
          onChange={(event) => change({ url: event.currentTarget.value })}
        />
        <Select
          w={110}
          label="Method"
          allowDeselect={false}
          data={[...METHODS]}
          value={value.method ?? 'POST'}
          onChange={(method) => change({ method: METHODS.find((candidate) => candidate === method) })}
        />
      </Group>
      <div>
        <Text size="sm" fw={550}>
          Signature
        </Text>
        <Text size="xs" c="dimmed" mb={6}>
          {secret === undefined || secret === null
            ? 'Requests are signed with the callback secret of the experience, which was shown when it was created.'
            : 'Requests are signed with a secret of this endpoint (Standard Webhooks).'}
        </Text>
        {isNew && secret !== undefined && secret !== null && secret !== MASK ? (
          <Stack gap="xs">
            <Group gap={6} wrap="nowrap" align="center">
              <PasswordInput flex={1} aria-label="Secret" readOnly visible value={secret} />
              <CopyIcon value={secret} label="Copy the secret" />
            </Group>
            <Alert color="orange">Copy it now. It is stored encrypted when you save, and never shown again.</Alert>
          </Stack>
        ) : (
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconKeyRound size={14} />}
              onClick={() => {
                setNew(true)
                change({ secret: newSecret() })
              }}
            >
              {secret === MASK ? 'Replace the secret' : 'Use a secret of its own'}
            </Button>
            {secret !== undefined && secret !== null && (
              <Button size="compact-sm" variant="subtle" color="gray" onClick={() => change({ secret: null })}>
                Use that of the experience
              </Button>
            )}
          </Group>
        )}
      </div>
      <Headers headers={value.headers ?? {}} onChange={(headers) => change({ headers })} />
    </Stack>
  )
}

function Headers({
  headers,
  onChange,
}: {
  headers: Record<string, string>
  onChange(headers: Record<string, string>): void
}) {
  const entries = Object.entries(headers)
  const set = (index: number, entry: [string, string]) =>
    onChange(Object.fromEntries(entries.map((existing, at) => (at === index ? entry : existing))))
  return (
    <Stack gap={6}>
      <Text size="sm" fw={550}>
        Headers
      </Text>
      <Text size="xs" c="dimmed">
        Stored encrypted. A value of {MASK} keeps the stored one.
      </Text>
      {entries.map(([name, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names change while they are typed.
        <Group key={index} wrap="nowrap" gap={6}>
          <TextInput
            flex={1}
            aria-label={`Name of header ${index + 1}`}
            placeholder="X-Environment"
            value={name}
            onChange={(event) => {
              const next = event.currentTarget.value
              if (next === name || !Object.hasOwn(headers, next)) set(index, [next, text])
            }}
          />
          <TextInput
            flex={1}
            aria-label={`Value of header ${index + 1}`}
            placeholder="production"
            value={text}
            onChange={(event) => set(index, [name, event.currentTarget.value])}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(Object.fromEntries(entries.filter((_, at) => at !== index)))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="default"
        size="compact-sm"
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        disabled={Object.hasOwn(headers, '')}
        onClick={() => onChange({ ...headers, '': '' })}
      >
        Add a header
      </Button>
    </Stack>
  )
}

/** 256 random bits in the form of Standard Webhooks. */
function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
}
