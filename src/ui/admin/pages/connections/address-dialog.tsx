import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Account, Connection } from '../../api/types.ts'
import { FormProblem, fieldError } from '../../parts/field-errors.tsx'
import { FormModal } from './change-dialogs.tsx'

/** Connects a mailbox of the organisation that the directory does not show. */
export function AddressDialog({
  connection,
  isOpen,
  onClose,
}: {
  connection: Connection
  isOpen: boolean
  onClose(): void
}) {
  const [email, setEmail] = useState('')
  const [customUserId, setCustomUserId] = useState('')
  const connect = useAction(
    () =>
      api.post<Account>('/accounts', {
        connectionId: connection.id,
        email: email.trim(),
        customUserId: customUserId.trim() || null,
      }),
    {
      invalidates: ['/connections', '/accounts', '/admin/overview'],
      done: (account) => `${account.email} is connected. Its first sync has started.`,
      toastError: false,
      onDone: onClose,
    },
  )
  const reset = () => {
    connect.reset()
    setEmail('')
    setCustomUserId('')
  }
  return (
    <FormModal
      title="Connect an address"
      action="Connect"
      isOpen={isOpen}
      onClose={onClose}
      onClosed={reset}
      onSubmit={() => connect.mutate()}
      isSaving={connect.isPending}
    >
      <FormProblem
        title="The mailbox could not be connected"
        error={connect.error}
        fields={['email', 'customUserId']}
      />
      <TextInput
        data-autofocus
        label="Address"
        description={`A mailbox of ${connection.name}`}
        placeholder="support@acme.example"
        required
        withAsterisk={false}
        maxLength={320}
        value={email}
        error={fieldError(connect.error, 'email')}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <TextInput
        label="Your user"
        description="The id of the user in your application (customUserId), if you like"
        maxLength={256}
        value={customUserId}
        error={fieldError(connect.error, 'customUserId')}
        onChange={(event) => setCustomUserId(event.currentTarget.value)}
      />
    </FormModal>
  )
}
