import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { CreatedApiKey } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'

const SCOPES = {
  read: 'Read: accounts, messages, events, logs',
  write: 'Write: everything that changes something; includes read',
  admin: 'Admin: keys, audit, settings; includes write',
}
const DAY_MS = 86_400_000
const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

export function KeyDialog({
  isOpen,
  onClose,
  onCreated,
}: {
  isOpen: boolean
  onClose(): void
  onCreated(key: CreatedApiKey): void
}) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(['write'])
  const [days, setDays] = useState('90')
  const create = useAction(
    () => {
      const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      return api.post<CreatedApiKey>('/api-keys', { name: name.trim(), scopes, expiresAt })
    },
    {
      invalidates: ['/api-keys'],
      toastError: false,
      onDone(key) {
        onClose()
        onCreated(key)
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
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Create a key">
      <form onSubmit={submit}>
        <Stack>
          {create.error !== null && <Problem title="The key could not be created" error={create.error} />}
          <TextInput
            data-autofocus
            required
            withAsterisk={false}
            label="Name"
            description="The program that uses it"
            placeholder="Invoice importer"
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes}>
            <Stack gap="xs" mt={6}>
              {Object.entries(SCOPES).map(([value, label]) => (
                <Checkbox key={value} value={value} label={label} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Select
            label="Expires"
            allowDeselect={false}
            data={EXPIRIES}
            value={days}
            onChange={(value) => setDays(value ?? '')}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={scopes.length === 0}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
