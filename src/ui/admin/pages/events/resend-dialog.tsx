import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Endpoint, FeedEvent, List } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'

interface ResendDialogProps {
  event: FeedEvent
  isOpen: boolean
  onClose(): void
}

/** Sends the event to an endpoint that did not receive it, or once more to one that did. */
export function ResendDialog({ event, isOpen, onClose }: ResendDialogProps) {
  const endpoints = useRead<List<'endpoints', Endpoint>>('/webhooks/endpoints', { limit: 200 }, { enabled: isOpen })
  const active = (endpoints.data?.endpoints ?? []).filter(({ isActive }) => isActive)
  const only = active.length === 1 ? active[0]?.id : undefined
  const [chosen, setChosen] = useState<string | null>(null)
  const [, navigate] = useLocation()
  const id = chosen ?? only ?? null
  const resend = useAction(
    () => api.post<{ deliveryId: string }>(`/events/${encodeURIComponent(event.id)}/resend`, { endpointId: id }),
    {
      invalidates: ['/webhooks', '/admin'],
      done: 'The event is on its way.',
      toastError: false,
      onDone: ({ deliveryId }) => navigate(`/deliveries/${deliveryId}`),
    },
  )
  const { reset } = resend
  useEffect(() => {
    if (isOpen) return
    setChosen(null)
    reset()
  }, [isOpen, reset])
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    resend.mutate()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title="Send the event to an endpoint">
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            The endpoint receives the event with the same id, whatever it subscribes to. An endpoint that received it
            before gets it again.
          </Text>
          {resend.error !== null && <Problem title="The event could not be sent" error={resend.error} />}
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
            <Button type="submit" disabled={id === null} loading={resend.isPending}>
              Send
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
