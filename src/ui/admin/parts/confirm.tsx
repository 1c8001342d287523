import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'

interface ConfirmProps {
  isOpen: boolean
  onClose(): void
  onConfirm(): void
  isRunning?: boolean
  title: string
  /** Describes the consequences, and whether they can be undone. */
  children: ReactNode
  /** The button: "Delete the account". */
  action: string
  /** The user must type it, for what cannot be undone. */
  typed?: string
  /** False for what does no harm. */
  isDangerous?: boolean
}

export function Confirm({
  isOpen,
  onClose,
  onConfirm,
  isRunning = false,
  title,
  children,
  action,
  typed,
  isDangerous = true,
}: ConfirmProps) {
  const [text, setText] = useState('')
  const isAllowed = typed === undefined || text.trim() === typed
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isAllowed) onConfirm()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={() => setText('')} title={title} centered>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              data-autofocus
              label={
                <>
                  Type <Code>{typed}</Code> to confirm
                </>
              }
              autoComplete="off"
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" {...(isDangerous && { color: 'red' })} disabled={!isAllowed} loading={isRunning}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
