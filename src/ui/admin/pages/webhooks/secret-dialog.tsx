import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { CopyButton } from '../../parts/copy.tsx'
import { IconTriangleAlert } from '../../parts/icons.tsx'

/** Shows a new secret once. */
export function SecretDialog({ secret, onClose }: { secret: string | undefined; onClose(): void }) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title="The signing secret"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="orange" icon={<IconTriangleAlert />}>
          Copy it now. It is stored encrypted and is never shown again.
        </Alert>
        <TextInput label="Secret" readOnly value={secret ?? ''} onFocus={(event) => event.currentTarget.select()} />
        <Group justify="flex-end">
          <CopyButton value={secret ?? ''}>Copy the secret</CopyButton>
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
