import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Endpoint, FeedEvent, List, Replay } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'

interface ReplayDialogProps {
  event: FeedEvent
  isOpen: boolean
  onClose(): void
}

/** Sends the event to an endpoint that did not receive it, or once more to one that did. */
export function ReplayDialog({ event, isOpen, onClose }: ReplayDialogProps) {
  const endpoints = useRead<List<'endpoints', Endpoint>>('/webhooks/endpoints', { limit: 200 }, { enabled: isOpen })
  const active = (endpoints.data?.endpoints ?? []).filter(({ isActive }) => isActive)
  const only = active.length === 1 ? active[0]?.id : undefined
  const [chosen, setChosen] = useState<string | null>(null)
  const [, navigate] = useLocation()
  const id = chosen ?? only ?? null
  const replay = useAction(
    () => api.post<Replay>(`/admin/events/${encodeURIComponent(event.id)}/replay`, { endpointId: id }),
    {
      invalidates: ['/webhooks', '/admin'],
      done: 'The event is on its way.',
      toastError: false,
      onDone: ({ deliveryId }) => navigate(`/deliveries/${deliveryId}`),
    },
  )
  const { reset } = replay
  useEffect(() => {
    if (isOpen) return
    setChosen(null)
    reset()
  }, [isOpen, reset])
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    replay.mutate()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title="Send the event to an endpoint">
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            The endpoint receives the event with the same id, whatever it subscribes to. An endpoint that received it
            before gets it again.
          </Text>
          {replay.error !== null && <Problem title="The event could not be sent" error={replay.error} />}
          {endpoints.data !== undefined && active.length === 0 ? (
            <Text size="sm" c="dimmed">
              There is no active endpoint. Add one under Webhooks first.
            </Text>
          ) : (
            <Select
              label="Endpoint"
              placeholder="Choose an endpoint"
              allowDeselect={false}
              data={active.map(({ id: value, url }) => ({ value, label: url }))}
              value={id}
              onChange={setChosen}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={id === null} loading={replay.isPending}>
              Send
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
