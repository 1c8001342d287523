import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import { IconTriangleAlert } from './icons.tsx'

/** Shows a new secret once. `label` is its name. */
export function SecretDialog({
  secret,
  title,
  label,
  children,
  onClose,
}: {
  secret: string | undefined
  title: string
  label: string
  /** Describes the purpose of the secret. */
  children?: ReactNode
  onClose(): void
}) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="orange" icon={<IconTriangleAlert />}>
          Copy it now. It is never shown again. {children}
        </Alert>
        <TextInput label={label} readOnly value={secret ?? ''} onFocus={(event) => event.currentTarget.select()} />
        <Group justify="flex-end">
          <CopyButton value={secret ?? ''}>Copy</CopyButton>
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
