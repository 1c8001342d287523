import { Anchor, Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Connection } from '../../api/types.ts'
import { FormProblem, fieldError } from '../../parts/field-errors.tsx'
import {
  AdminEmailInput,
  CredentialInputs,
  type Credentials,
  credentialFields,
  NO_CREDENTIALS,
} from './credentials.tsx'
import { ADMIN_GUIDES, PROVIDERS } from './names.tsx'

interface Draft extends Credentials {
  provider: Connection['provider']
  name: string
  tenantId: string
  clientId: string
  adminEmail: string
}

const EMPTY: Draft = {
  ...NO_CREDENTIALS,
  provider: 'microsoft',
  name: '',
  tenantId: '',
  clientId: '',
  adminEmail: '',
}

const ABOUT: Record<Connection['provider'], string> = {
  microsoft:
    'An administrator of the tenant registers an application in Microsoft Entra, and consents to its application permissions.',
  gmail:
    'An administrator of the Workspace allows the service account the scopes for mail and calendars, by domain-wide delegation.',
}

/** The fields on the form: what the API says about them is shown at them. */
function shownFields({ provider, kind }: Draft): readonly string[] {
  if (provider === 'gmail') return ['name', 'serviceAccountKey', 'adminEmail']
  return ['name', 'tenantId', 'clientId', ...(kind === 'secret' ? ['clientSecret'] : ['privateKey', 'certificate'])]
}

function toBody(draft: Draft) {
  const { provider, name, tenantId, clientId, adminEmail } = draft
  return {
    provider,
    kind: 'tenant',
    name: name.trim(),
    ...(provider === 'microsoft' && { tenantId: tenantId.trim(), clientId: clientId.trim() }),
    ...(provider === 'gmail' && { adminEmail: adminEmail.trim() || null }),
    ...credentialFields(provider, draft),
  }
}

interface CreateDialogProps {
  isOpen: boolean
  onClose(): void
  onCreated(connection: Connection): void
}

export function CreateDialog({ isOpen, onClose, onCreated }: CreateDialogProps) {
  const [draft, setDraft] = useState(EMPTY)
  const set = (changes: Partial<Draft>) => setDraft((previous) => ({ ...previous, ...changes }))
  const create = useAction(() => api.post<Connection>('/connections', toBody(draft)), {
    invalidates: ['/connections'],
    toastError: false,
    done: ({ name }) => `${name} accepts the credentials.`,
    onDone(connection) {
      onClose()
      onCreated(connection)
    },
  })
  const { provider, name, tenantId, clientId, adminEmail } = draft
  const { error } = create
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const reset = () => {
    create.reset()
    setDraft(EMPTY)
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Add a connection" size="lg">
      <form onSubmit={submit}>
        <Stack>
          <FormProblem title="The connection could not be added" error={error} fields={shownFields(draft)} />
          <div>
            <SegmentedControl
              fullWidth
              aria-label="Provider"
              data={Object.entries(PROVIDERS).map(([value, label]) => ({ value, label }))}
              value={provider}
              onChange={(value) => {
                create.reset()
                set({ provider: value === 'gmail' ? 'gmail' : 'microsoft' })
              }}
            />
            <Text size="sm" c="dimmed" mt="xs">
              {ABOUT[provider]}{' '}
              <Anchor href={ADMIN_GUIDES[provider]} target="_blank" rel="noreferrer" inherit underline="always">
                What the administrator does
              </Anchor>
            </Text>
          </div>
          <TextInput
            data-autofocus
            label="Name"
            description="Says whose mailboxes these are"
            placeholder="Acme"
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            error={fieldError(error, 'name')}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          {provider === 'microsoft' && (
            <>
              <TextInput
                label="Tenant"
                description="The directory id, or one of its domains"
                placeholder="acme.onmicrosoft.com"
                required
                withAsterisk={false}
                maxLength={253}
                value={tenantId}
                error={fieldError(error, 'tenantId')}
                onChange={(event) => set({ tenantId: event.currentTarget.value })}
              />
              <TextInput
                label="Application id"
                placeholder="11111111-2222-3333-4444-555555555555"
                required
                withAsterisk={false}
                maxLength={128}
                value={clientId}
                error={fieldError(error, 'clientId')}
                onChange={(event) => set({ clientId: event.currentTarget.value })}
              />
            </>
          )}
          <CredentialInputs provider={provider} value={draft} onChange={set} error={error} />
          {provider === 'gmail' && (
            <AdminEmailInput value={adminEmail} onChange={(value) => set({ adminEmail: value })} error={error} />
          )}
          <Text size="xs" c="dimmed">
            A token is requested with the credentials before they are stored, encrypted.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Add the connection
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
