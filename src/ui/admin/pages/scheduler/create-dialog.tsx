import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Experience } from '../../api/types.ts'
import { AccountsField } from '../../parts/account-picker.tsx'
import { Problem } from '../../parts/problem.tsx'
import { ownZone, ZoneField } from '../../parts/zone-field.tsx'

/** Office hours, to begin with. */
const OPEN_HOURS = [{ days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' }]

/** The few things without which there is nothing to edit; the editor has the rest. */
export function CreateDialog({
  isOpen,
  onClose,
  onCreated,
}: {
  isOpen: boolean
  onClose(): void
  onCreated(experience: Experience): void
}) {
  const [name, setName] = useState('')
  const [ownSlug, setOwnSlug] = useState<string>()
  const [timezone, setTimezone] = useState(ownZone)
  const [defaultAccountIds, setHosts] = useState<string[]>([])
  const slug = ownSlug ?? toSlug(name)
  const create = useAction(
    () =>
      api.post<Experience>('/scheduler/experiences', {
        name: name.trim(),
        slug,
        timezone,
        defaultAccountIds,
        availability: { openHours: OPEN_HOURS, durationMinutes: 30 },
      }),
    {
      invalidates: ['/scheduler'],
      done: 'The experience was created.',
      toastError: false,
      onDone(experience) {
        onClose()
        onCreated(experience)
      },
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const reset = () => {
    create.reset()
    setName('')
    setOwnSlug(undefined)
    setHosts([])
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Create an experience" size="lg">
      <form onSubmit={submit}>
        <Stack>
          {create.error !== null && <Problem title="The experience could not be created" error={create.error} />}
          <TextInput
            data-autofocus
            required
            withAsterisk={false}
            label="Name"
            description="What guests read above the calendar"
            placeholder="Introductory call"
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            required
            withAsterisk={false}
            label="Slug"
            description={`The last part of the link, /book/${slug || '…'}. It cannot be changed later.`}
            placeholder="intro-call"
            pattern="[a-z0-9\-]{3,64}"
            title="3 to 64 small letters, digits and hyphens"
            maxLength={64}
            value={slug}
            onChange={(event) => setOwnSlug(event.currentTarget.value)}
          />
          <ZoneField
            label="Time zone"
            description="Of the open hours. Guests see times in their own."
            value={timezone}
            onChange={setTimezone}
          />
          <AccountsField
            label="Hosts"
            description="Their calendars decide which times are free, and get the meetings. Without hosts, only the open hours count."
            value={defaultAccountIds}
            onChange={setHosts}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
}
