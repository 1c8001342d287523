import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
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

interface ChangeProps {
  connection: Connection
  isOpen: boolean
  onClose(): void
}

const SECRET_FIELDS = ['clientSecret', 'privateKey', 'certificate', 'serviceAccountKey']

/** Accounts that the old secret stopped are tried again with the new one. */
export function SecretDialog({ connection, isOpen, onClose }: ChangeProps) {
  const { provider, thumbprint } = connection
  const empty: Credentials = { ...NO_CREDENTIALS, kind: thumbprint === null ? 'secret' : 'certificate' }
  const [credentials, setCredentials] = useState(empty)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays while the connection is read again.
  useEffect(() => {
    if (isOpen) setCredentials(empty)
  }, [isOpen])
  const save = useChange(connection, 'The secret was replaced.', onClose)
  const reset = () => {
    save.reset()
    setCredentials(empty)
  }
  return (
    <FormModal
      title="Replace the secret"
      isOpen={isOpen}
      onClose={onClose}
      onClosed={reset}
      onSubmit={() => save.mutate(credentialFields(provider, credentials))}
      isSaving={save.isPending}
      action="Replace the secret"
    >
      <FormProblem title="The secret could not be replaced" error={save.error} fields={SECRET_FIELDS} />
      <Text size="sm" c="dimmed">
        The stored secret stays in use until a token was issued for the new one. Remove the old one at the provider
        afterwards.
      </Text>
      <CredentialInputs
        provider={provider}
        value={credentials}
        onChange={(changes) => setCredentials((previous) => ({ ...previous, ...changes }))}
        error={save.error}
      />
    </FormModal>
  )
}

/** Everything that can be changed without a new secret. */
export function EditDialog({ connection, isOpen, onClose }: ChangeProps) {
  const [name, setName] = useState(connection.name)
  const [adminEmail, setAdminEmail] = useState(connection.adminEmail ?? '')
  const save = useChange(connection, 'The connection was changed.', onClose)
  const isGoogle = connection.provider === 'gmail'
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays while the connection is read again.
  useEffect(() => {
    if (!isOpen) return
    setName(connection.name)
    setAdminEmail(connection.adminEmail ?? '')
  }, [isOpen])
  const submit = () => {
    const admin = adminEmail.trim() || null
    // A changed administrator is checked at Google, a changed name is not.
    save.mutate({ name: name.trim(), ...(isGoogle && admin !== connection.adminEmail && { adminEmail: admin }) })
  }
  return (
    <FormModal
      title="Edit the connection"
      isOpen={isOpen}
      onClose={onClose}
      onClosed={() => save.reset()}
      onSubmit={submit}
      isSaving={save.isPending}
      action="Save"
    >
      <FormProblem title="The connection could not be changed" error={save.error} fields={['name', 'adminEmail']} />
      <TextInput
        data-autofocus
        label="Name"
        required
        withAsterisk={false}
        maxLength={200}
        value={name}
        error={fieldError(save.error, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {isGoogle && <AdminEmailInput value={adminEmail} onChange={setAdminEmail} error={save.error} />}
    </FormModal>
  )
}

function useChange({ id }: Connection, done: string, onDone: () => void) {
  return useAction(
    (changes: Record<string, string | null>) =>
      api.patch<Connection>(`/connections/${encodeURIComponent(id)}`, changes),
    { invalidates: ['/connections', '/accounts', '/admin/overview'], done, onDone, toastError: false },
  )
}

interface FormModalProps {
  title: string
  action: string
  isOpen: boolean
  isSaving: boolean
  onClose(): void
  onClosed(): void
  onSubmit(): void
  children: ReactNode
}

export function FormModal({ title, action, isOpen, isSaving, onClose, onClosed, onSubmit, children }: FormModalProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={onClosed} title={title}>
      <form onSubmit={submit}>
        <Stack>
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isSaving}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
