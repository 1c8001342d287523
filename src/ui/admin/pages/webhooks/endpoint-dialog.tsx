import {
  ActionIcon,
  Button,
  Checkbox,
  Collapse,
  Group,
  Modal,
  NumberInput,
  Radio,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Endpoint } from '../../api/types.ts'
import { IconChevronDown, IconPlus, IconTrash } from '../../parts/icons.tsx'
import { Problem } from '../../parts/problem.tsx'
import { EventPicker } from './event-picker.tsx'

interface Draft {
  url: string
  isAll: boolean
  eventTypes: string[]
  isActive: boolean
  isSigned: boolean
  headers: { key: number; name: string; value: string }[]
  retryCount: number
  retryDelayMs: number
  retryStrategy: 'fixed' | 'exponential'
  timeoutMs: number
}

function toDraft(endpoint: Endpoint | undefined): Draft {
  const types = endpoint?.eventTypes ?? ['message.received', 'mailbox.changed']
  const isAll = types.length === 0 || types.includes('*')
  return {
    url: endpoint?.url ?? '',
    isAll,
    eventTypes: isAll ? [] : types,
    isActive: endpoint?.isActive ?? true,
    isSigned: endpoint?.hasSecret ?? true,
    headers: Object.entries(endpoint?.headers ?? {}).map(([name, value], key) => ({ key, name, value })),
    retryCount: endpoint?.retryCount ?? 3,
    retryDelayMs: endpoint?.retryDelayMs ?? 1000,
    retryStrategy: endpoint?.retryStrategy ?? 'fixed',
    timeoutMs: endpoint?.timeoutMs ?? 30_000,
  }
}

interface EndpointDialogProps {
  isOpen: boolean
  onClose(): void
  /** Undefined: a new one. */
  endpoint?: Endpoint
  onSaved?(endpoint: Endpoint): void
}

export function EndpointDialog({ isOpen, onClose, endpoint, onSaved }: EndpointDialogProps) {
  const [draft, setDraft] = useState(() => toDraft(endpoint))
  const [isAdvanced, setAdvanced] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays while the endpoint is read again.
  useEffect(() => {
    if (isOpen) setDraft(toDraft(endpoint))
  }, [isOpen])
  const set = (changes: Partial<Draft>) => setDraft((previous) => ({ ...previous, ...changes }))
  const save = useAction(
    () => {
      const body = toBody(draft, endpoint)
      if (endpoint === undefined) return api.post<Endpoint>('/webhooks/endpoints', body)
      return api.put<Endpoint>(`/webhooks/endpoints/${encodeURIComponent(endpoint.id)}`, body)
    },
    {
      invalidates: ['/webhooks', '/admin/overview'],
      done: endpoint === undefined ? 'The endpoint was added.' : 'The endpoint was changed.',
      toastError: false,
      onDone(saved) {
        onClose()
        onSaved?.(saved)
      },
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const urlError = save.error?.details.find(({ path }) => path === 'body.url')?.message
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => save.reset()}
      title={endpoint === undefined ? 'Add an endpoint' : 'Change the endpoint'}
      size="lg"
    >
      <form onSubmit={submit}>
        <Stack>
          {save.error !== null && <Problem title="The endpoint could not be saved" error={save.error} />}
          <TextInput
            data-autofocus
            label="URL"
            description="HTTPS, at which your application accepts POST requests"
            placeholder="https://app.example.com/hooks/posthorn"
            required
            withAsterisk={false}
            maxLength={2048}
            value={draft.url}
            error={urlError}
            onChange={(event) => set({ url: event.currentTarget.value })}
          />
          <Radio.Group
            label="Events"
            value={draft.isAll ? 'all' : 'some'}
            onChange={(value) => set({ isAll: value === 'all' })}
          >
            <Group mt={6} gap="lg">
              <Radio value="some" label="Chosen events" />
              <Radio value="all" label="All events, also future ones" />
            </Group>
          </Radio.Group>
          {!draft.isAll && <EventPicker value={draft.eventTypes} onChange={(eventTypes) => set({ eventTypes })} />}
          <Switch
            label="Active"
            description="While it is inactive, events create no deliveries for it."
            checked={draft.isActive}
            onChange={(event) => set({ isActive: event.currentTarget.checked })}
          />
          {endpoint === undefined && (
            <Checkbox
              label="Sign the requests"
              description="The service generates a secret and shows it once (Standard Webhooks)."
              checked={draft.isSigned}
              onChange={(event) => set({ isSigned: event.currentTarget.checked })}
            />
          )}
          <Button
            variant="subtle"
            color="gray"
            w="fit-content"
            ml="calc(-1 * var(--button-padding-x))"
            aria-expanded={isAdvanced}
            rightSection={<IconChevronDown size={16} />}
            onClick={() => setAdvanced(!isAdvanced)}
          >
            Retries, timeout and headers
          </Button>
          <Collapse expanded={isAdvanced}>
            <Stack>
              <Group grow align="flex-start">
                <NumberInput
                  label="Retries"
                  min={0}
                  max={20}
                  value={draft.retryCount}
                  onChange={(value) => set({ retryCount: Number(value) })}
                />
                <NumberInput
                  label="Delay (ms)"
                  min={0}
                  max={86_400_000}
                  step={1000}
                  value={draft.retryDelayMs}
                  onChange={(value) => set({ retryDelayMs: Number(value) })}
                />
                <NumberInput
                  label="Timeout (ms)"
                  min={100}
                  max={60_000}
                  step={1000}
                  value={draft.timeoutMs}
                  onChange={(value) => set({ timeoutMs: Number(value) })}
                />
              </Group>
              <Select
                label="Between retries"
                allowDeselect={false}
                data={[
                  { value: 'fixed', label: 'The same delay each time' },
                  { value: 'exponential', label: 'Twice the delay after each attempt, up to 24 hours' },
                ]}
                value={draft.retryStrategy}
                onChange={(value) => set({ retryStrategy: value === 'exponential' ? 'exponential' : 'fixed' })}
              />
              <Headers headers={draft.headers} onChange={(headers) => set({ headers })} />
            </Stack>
          </Collapse>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!draft.isAll && draft.eventTypes.length === 0}>
              {endpoint === undefined ? 'Add the endpoint' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function toBody(draft: Draft, endpoint: Endpoint | undefined) {
  const { url, isAll, eventTypes, isActive, isSigned, retryCount, retryDelayMs, retryStrategy, timeoutMs } = draft
  const headers = Object.fromEntries(
    draft.headers.flatMap(({ name, value }) => (name.trim() === '' ? [] : [[name.trim(), value]])),
  )
  return {
    url: url.trim(),
    eventTypes: isAll ? ['*'] : eventTypes,
    isActive,
    headers,
    retryCount,
    retryDelayMs,
    retryStrategy,
    timeoutMs,
    ...(endpoint === undefined && !isSigned && { secret: null }),
  }
}

function Headers({ headers, onChange }: { headers: Draft['headers']; onChange(headers: Draft['headers']): void }) {
  const change = (key: number, changes: Partial<Draft['headers'][number]>) =>
    onChange(headers.map((header) => (header.key === key ? { ...header, ...changes } : header)))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Headers
      </Text>
      <Text size="xs" c="dimmed">
        Sent with each delivery and stored encrypted. A value of *** keeps the stored one.
      </Text>
      {headers.map(({ key, name, value }) => (
        <Group key={key} wrap="nowrap" gap="xs">
          <TextInput
            flex={1}
            aria-label="Header name"
            placeholder="X-Environment"
            value={name}
            onChange={(event) => change(key, { name: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            aria-label={`Value of ${name || 'the header'}`}
            placeholder="production"
            value={value}
            onChange={(event) => change(key, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove ${name || 'the header'}`}
            onClick={() => onChange(headers.filter((header) => header.key !== key))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="default"
        w="fit-content"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={() =>
          onChange([...headers, { key: Math.max(-1, ...headers.map(({ key }) => key)) + 1, name: '', value: '' }])
        }
      >
        Add a header
      </Button>
    </Stack>
  )
}
