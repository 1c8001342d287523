import { Alert, Button, Group, Modal, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Endpoint } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'

interface Recovery {
  recovered: number
  complete: boolean
  continueSince?: string
}

const HOUR_MS = 3_600_000

/** Queues the events of a range that an endpoint did not receive, for example while it was inactive. */
export function RecoverDialog({
  isOpen,
  onClose,
  endpoints,
  endpointId,
}: {
  isOpen: boolean
  onClose(): void
  endpoints: readonly Endpoint[]
  endpointId: string
}) {
  const [id, setId] = useState<string | null>(null)
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  useEffect(() => {
    if (!isOpen) return
    setId(endpointId || (endpoints.length === 1 ? (endpoints[0]?.id ?? null) : null))
    setSince(localText(Date.now() - 24 * HOUR_MS))
    setUntil('')
  }, [isOpen, endpointId, endpoints])
  const recover = useAction(
    async () => {
      let total = 0
      let from = new Date(since).toISOString()
      for (;;) {
        const part = await api.post<Recovery>(`/webhooks/endpoints/${encodeURIComponent(id ?? '')}/recover`, {
          since: from,
          ...(until !== '' && { until: new Date(until).toISOString() }),
        })
        total += part.recovered
        if (part.complete || part.continueSince === undefined) return total
        from = part.continueSince
      }
    },
    { invalidates: ['/webhooks', '/admin'], toastError: false },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    recover.mutate()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={() => recover.reset()} title="Recover missed events">
      {recover.isSuccess ? (
        <Stack>
          <Alert
            color="teal"
            title={
              recover.data === 0 ? 'Nothing was missed' : `${recover.data.toLocaleString()} deliveries are on their way`
            }
          >
            {recover.data === 0
              ? 'The endpoint has received every event of this range to which it subscribes.'
              : 'They appear in the list as they are sent.'}
          </Alert>
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm" c="dimmed">
              Sends the events of a range again that the endpoint has not received. Events that it has received are not
              repeated.
            </Text>
            {recover.error !== null && <Problem title="The events could not be recovered" error={recover.error} />}
            <Select
              label="Endpoint"
              placeholder="Choose one"
              allowDeselect={false}
              data={endpoints.map(({ id: value, url }) => ({ value, label: url }))}
              value={id}
              onChange={setId}
            />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput
                type="datetime-local"
                label="From"
                required
                withAsterisk={false}
                value={since}
                onChange={(event) => setSince(event.currentTarget.value)}
              />
              <TextInput
                type="datetime-local"
                label="Until (optional)"
                value={until}
                onChange={(event) => setUntil(event.currentTarget.value)}
              />
            </SimpleGrid>
            <Text size="xs" c="dimmed">
              In your time zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" disabled={id === null} loading={recover.isPending}>
                Recover
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

/** The value of a `datetime-local` field. */
function localText(ms: number): string {
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16)
}
