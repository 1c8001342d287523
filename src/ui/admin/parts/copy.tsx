import { ActionIcon, Button, Code, Group, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from './icons.tsx'

/** Copies a text. `label` says what: "Copy the link". */
export function CopyIcon({ value, label }: { value: string; label: string }) {
  const clipboard = useClipboard({ timeout: 2000 })
  return (
    <Tooltip label={clipboard.copied ? 'Copied' : label} withArrow>
      <ActionIcon
        variant="subtle"
        color={clipboard.copied ? 'teal' : 'gray'}
        size="sm"
        aria-label={label}
        onClick={() => clipboard.copy(value)}
      >
        {clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  )
}

export function CopyButton({ value, children }: { value: string; children: string }) {
  const clipboard = useClipboard({ timeout: 2000 })
  return (
    <Button
      variant="default"
      leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      onClick={() => clipboard.copy(value)}
    >
      {clipboard.copied ? 'Copied' : children}
    </Button>
  )
}

/** An id, a URL or another text that people copy. */
export function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" className="copyable">
      <Code className="copyable-text">{value}</Code>
      <CopyIcon value={value} label={label} />
    </Group>
  )
}
